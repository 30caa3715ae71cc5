import AnnalsFormat
import AnnalsModel

/// What a log says of a snapshot beside its bytes: of which position of which store it is, and
/// where the log goes on from it.
///
///     version: u8 (1); token: string; sequence: number; digest: 32 bytes
struct SnapshotDetails: Sendable {
  /// The position that the snapshot has.
  var token: Token
  /// How far its file has come; before the log's first record for the store that began the log.
  var place: ReplicaPlace

  private static let version: UInt8 = 1
  /// What the names of snapshots begin with.
  static let prefix = "snapshot/"

  init(_ token: Token, _ place: ReplicaPlace) {
    self.token = token
    self.place = place
  }

  /// A name for the snapshot, which no other has that is made at the same time.
  func name(_ random: UInt64) -> String {
    let digits = String(place.sequence)
    let padding = String(repeating: "0", count: max(20 - digits.count, 0))
    let end = String(random, radix: 16)
    return "\(SnapshotDetails.prefix)\(padding)\(digits)-\(token.store)-\(end)"
  }

  var bytes: [UInt8] {
    var bytes: ContiguousArray<UInt8> = [SnapshotDetails.version]
    bytes.append(string: token.description)
    bytes.append(varInt: place.sequence)
    bytes.append(contentsOf: place.digest.bytes)
    return Array(bytes)
  }

  /// Reads the details of an object; nil if they are none of a snapshot, or of a later version.
  init?(_ object: SharedObject) {
    let found: SnapshotDetails? = object.details.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      guard let version = try? reader.readUInt8(), version == SnapshotDetails.version,
        let text = try? reader.readString(), let token = Token(text),
        let sequence = try? reader.readVarUInt62(), let digest = Digest(reader.rest)
      else { return nil }
      return SnapshotDetails(
        token, ReplicaPlace(number: token.number, sequence: sequence, digest: digest))
    }
    guard let found else { return nil }
    self = found
  }
}

extension [SharedObject] {
  /// Those that are snapshots, the newest last; of the same moment in one order for all.
  var inOrder: [(object: SharedObject, details: SnapshotDetails)] {
    compactMap { object in SnapshotDetails(object).map { (object, $0) } }
      .sorted {
        let (first, second) = ($0.details.place.sequence, $1.details.place.sequence)
        return first == second ? $0.object.name < $1.object.name : first < second
      }
  }
}
