import Annals
import AnnalsFormat
import AnnalsModel
import Foundation

/// What a replica says of itself in the log, so that the log keeps what it needs.
///
/// It holds the log's trimming for as long as its lease says since it was last renewed, by the
/// clocks of the replicas' machines. After that the log is trimmed without regard to it, and it
/// takes what it lacks from a snapshot when it is back.
public struct ReplicaRegistration: Hashable, Sendable, Identifiable {
  /// A blocking consumer of a replica's store that has read least.
  public struct Consumer: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// The sequence of the last record that it has read.
    public var sequence: UInt64
    /// When it last advanced or was opened.
    public var lastSeen: Date
  }

  /// Which replica it is: of one file, for as long as it is at its place.
  public var id: UUID
  /// What the replica is called: its machine and its file, or as its program says.
  public var name: String
  /// The number of its newest transaction.
  public var number: Int64
  /// The sequence of the newest record that is in its file.
  public var sequence: UInt64
  /// The blocking consumer of its store with a running lease that has read least; nil for none.
  public var consumer: Consumer?
  /// When it was last renewed.
  public var renewed: Date
  /// How long the log waits for it from then, in seconds.
  public var lease: Double
  /// The name of the snapshot that it is getting; nil for none.
  var fetching: String?
  /// Whether it is making a snapshot.
  var isMaking = false

  /// The sequence of the last record that neither it nor its consumers need any more.
  public var passed: UInt64 { min(sequence, consumer?.sequence ?? sequence) }

  /// When its lease ends.
  public var expiry: Date { renewed.addingTimeInterval(lease) }

  /// Whether the log waits for it at a moment.
  public func isLeaseRunning(at moment: Date) -> Bool { moment < expiry }

  // MARK: Its form
  //
  //     version: u8 (1); id: string; name: string; number, sequence: number; renewed: microseconds
  //     since 1970, zigzag; lease: microseconds; flags: u8 (1 a consumer, 2 getting, 4 making);
  //     then by these: name: string, sequence: number, last seen: zigzag; name: string
  //
  // More may follow, and is not read.

  private static let version: UInt8 = 1
  /// What the names of registrations begin with.
  static let prefix = "replica/"

  /// The name of the object that registers a replica.
  static func objectName(of id: UUID) -> String { "\(prefix)\(id)" }

  /// The object that says this: one without pieces.
  var object: SharedObject {
    SharedObject(
      name: ReplicaRegistration.objectName(of: id), length: 0, pieceLength: 1,
      digest: Digest(of: []), details: details)
  }

  private var details: [UInt8] {
    var bytes: ContiguousArray<UInt8> = [ReplicaRegistration.version]
    bytes.append(string: id.uuidString)
    bytes.append(string: name.cut(to: 128))
    bytes.append(varInt: UInt64(clamping: number))
    bytes.append(varInt: sequence)
    bytes.append(zigzag: Timestamp(renewed).microseconds)
    bytes.append(varInt: UInt64(max(lease, 0) * 1e6))
    bytes.append((consumer == nil ? 0 : 1) | (fetching == nil ? 0 : 2) | (isMaking ? 4 : 0))
    if let consumer {
      bytes.append(string: consumer.name)
      bytes.append(varInt: consumer.sequence)
      bytes.append(zigzag: Timestamp(consumer.lastSeen).microseconds)
    }
    if let fetching { bytes.append(string: fetching) }
    return Array(bytes)
  }

  /// Reads a registration; nil if it is none, or of a later version.
  init?(_ object: SharedObject) {
    let found: ReplicaRegistration? = object.details.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      return try? ReplicaRegistration(&reader)
    }
    guard let found, object.name == ReplicaRegistration.objectName(of: found.id) else { return nil }
    self = found
  }

  private init?(_ reader: inout ByteReader) throws(DecodeFault) {
    guard try reader.readUInt8() == ReplicaRegistration.version,
      let id = UUID(uuidString: try reader.readString())
    else { return nil }
    self.id = id
    name = try reader.readString()
    number = Int64(try reader.readVarUInt62())
    sequence = try reader.readVarUInt62()
    renewed = Date(Timestamp(microseconds: try reader.readZigzag()))
    lease = Double(try reader.readVarUInt62()) / 1e6
    let flags = try reader.readUInt8()
    if flags & 1 != 0 {
      consumer = Consumer(
        name: try reader.readString(), sequence: try reader.readVarUInt62(),
        lastSeen: Date(Timestamp(microseconds: try reader.readZigzag())))
    }
    if flags & 2 != 0 { fetching = try reader.readString() }
    isMaking = flags & 4 != 0
  }

  init(id: UUID, name: String, at place: ReplicaPlace, renewed: Date, lease: Duration) {
    self.id = id
    self.name = name
    number = place.number
    sequence = place.sequence
    self.renewed = renewed
    self.lease = min(max(lease / .seconds(1), 0), 1e12)
  }
}

extension String {
  /// As much of the text as fits into so many bytes.
  fileprivate func cut(to count: Int) -> String {
    var text = self
    while text.utf8.count > count { text.removeLast() }
    return text
  }
}

extension ReplicaRegistration {
  /// Reads the registrations in these objects.
  static func reading(_ objects: [SharedObject]) throws(ReplicationError) -> [ReplicaRegistration] {
    var found: [ReplicaRegistration] = []
    for object in objects {
      guard let registration = ReplicaRegistration(object) else {
        throw ReplicationError(
          .newerVersion,
          "the registration \(object.name) in the log is of a newer version of the program, so "
            + "what that replica needs is not known. Update this program; nothing was changed")
      }
      found.append(registration)
    }
    return found
  }
}
