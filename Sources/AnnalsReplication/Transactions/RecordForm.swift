import AnnalsFormat

/// How a transaction is put into a record of a shared log: whole, or as the digest of an object
/// that has its bytes, where it is longer than a record may be; and either in the place of what it
/// was before values of it were erased.
///
///     kind: u8 (1 whole, 2 object, 3 erased); whole: the portable form
///     object: length: number; digest: 32 bytes
///     erased: digest: 32 bytes; a record of kind 1 or 2
indirect enum RecordForm {
  /// The portable form is in the record.
  case whole([UInt8])
  /// It is in an object of the log, of this length and digest.
  case object(length: UInt64, Digest)
  /// An erasure has left this of the transaction that had this digest.
  case erased(Digest, RecordForm)

  private static let kindOfWhole: UInt8 = 1
  private static let kindOfObject: UInt8 = 2
  private static let kindOfErased: UInt8 = 3

  /// The name of the object that has a transaction with this digest.
  static func objectName(of digest: Digest) -> String { "\(prefix)\(digest)" }

  /// What the names of such objects begin with.
  static let prefix = "transaction/"

  /// The name of the object that has the bytes; nil if the record has them.
  var objectName: String? {
    switch self {
    case .whole: nil
    case .object(_, let digest): RecordForm.objectName(of: digest)
    case .erased(_, let left): left.objectName
    }
  }

  /// The record's bytes.
  var bytes: [UInt8] {
    switch self {
    case .whole(let bytes): return [RecordForm.kindOfWhole] + bytes
    case .object(let length, let digest):
      var bytes: ContiguousArray<UInt8> = [RecordForm.kindOfObject]
      bytes.append(varInt: length)
      bytes.append(contentsOf: digest.bytes)
      return Array(bytes)
    case .erased(let digest, let left):
      return [RecordForm.kindOfErased] + digest.bytes + left.bytes
    }
  }

  /// Reads a record's bytes. Throws `.newerVersion` or `.damaged`.
  init(_ bytes: [UInt8]) throws(ReplicationError) {
    switch bytes.first {
    case RecordForm.kindOfWhole: self = .whole(Array(bytes.dropFirst()))
    case RecordForm.kindOfObject:
      let found: RecordForm? = bytes.withUnsafeBytes { bytes in
        var reader = ByteReader(bytes)
        guard (try? reader.readUInt8()) != nil, let length = try? reader.readVarUInt62(),
          length <= UInt64(PortableTransaction.longest), let digest = Digest(reader.rest)
        else { return nil }
        return .object(length: length, digest)
      }
      guard let found else {
        throw ReplicationError(.damaged, "the log has a record that is no transaction")
      }
      self = found
    case RecordForm.kindOfErased:
      let left = try RecordForm(Array(bytes.dropFirst(1 + Digest.length)))
      guard let digest = Digest(bytes.dropFirst().prefix(Digest.length)) else {
        throw ReplicationError(.damaged, "the log has a record that is no transaction")
      }
      if case .erased = left {
        throw ReplicationError(.damaged, "the log has a record that is erased twice")
      }
      self = .erased(digest, left)
    case nil: throw ReplicationError(.damaged, "the log has a record without bytes")
    default:
      throw ReplicationError(
        .newerVersion, "the log has a record of a newer version of the program")
    }
  }
}
