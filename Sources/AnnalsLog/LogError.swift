import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// An error of the log. It has no text: `AnnalsError` has the one that users read.
package enum LogError: Error {
  /// The operating system refused; nothing was changed.
  case storage(StorageError)
  /// The file does not begin with a header that this engine can use.
  case header(HeaderFault)
  /// The file uses features, given as bits, that a writer must know and this engine does not.
  case newerWriter(UInt64)
  /// The root slot or frame at this offset announces features, given as bits, that a reader must
  /// know and this engine does not.
  case newerReader(UInt64, at: UInt64)
  /// Acknowledged data is damaged.
  case damage(LogDamage)
  /// A frame's checksum is right but its payload does not decode; `at` is the frame's offset.
  case decode(DecodeFault, at: UInt64)
  /// A write or sync failed: whether the transactions after the last acknowledged one exist after
  /// reopening is unknown. The log is poisoned.
  case outcomeUnknown(StorageError)
  /// A new file was neither certainly placed at this path nor certainly removed again: after a
  /// power cut it may be there, whole.
  case placementUnknown(String, StorageError)
  /// An earlier write or sync failed with this error; open the file again.
  case poisoned(StorageError)
  /// The log is closed.
  case closed
  /// The log is open for reading only.
  case readOnly
  /// The lock was not free in time, or another rewrite is running.
  case busy
  /// No file exists at the path.
  case missing
  /// The path now holds another store, or an older generation of this one.
  case foreign(String)
  /// An older copy, or another, was written over the file while it was open: it lacks what this log
  /// appended or knew to be synced, up to transaction `head`.
  case overwritten(head: Int64)
  /// Transactions that this log has read are gone from the file (their writer could not sync them).
  /// The number is the last one known to remain.
  case rewound(lastShared: Int64)
  /// A file exists at a path where a new one was to be made.
  case exists(String)
  /// A file that is not an unfinished one has the name of one; the second text says why it is not
  /// removed.
  case occupied(String, String)
  /// The file has this many names (hard links), so it cannot be replaced.
  case hardLinked(Int)
  /// A record does not fit into one frame.
  case tooLarge(length: Int, limit: Int)
  /// A transaction's metadata, schema change and names are longer than writers allow.
  case detailsTooLarge(length: Int, limit: Int)
  /// A number that the store assigns has reached the greatest that writers allow; the text says
  /// which.
  case numbersSpent(String)
  /// A frame of a kind that this engine does not know and must not skip.
  case unsupported(kind: UInt8, at: UInt64)
  /// The file holds no large value with this number.
  case largeValueMissing(UInt64)
  /// The bytes of the large value with this number were lost before the store was salvaged.
  case largeValueLost(UInt64)
  /// The file does not hold the transaction asked for; it holds the states from `base` to `head`.
  case outside(base: Int64, head: Int64)
  /// The error of the caller's own work: thrown by a closure of it, or with which it rejected what
  /// it was handed.
  case interrupted(any Error)
}

/// Damage to acknowledged data.
package struct LogDamage: Error, Hashable, Sendable {
  /// Where in the file the damage was found.
  package var offset: UInt64
  /// What is wrong there.
  package var reason: String
  /// The last transaction that a reading from the front reaches; nil if it is not known.
  package var lastGood: Int64?
}

extension LogError {
  /// An error of the caller's own work; one of the log stays as it is.
  init(ofCaller error: any Error) {
    self = error as? LogError ?? .interrupted(error)
  }

  /// An error of the storage or of the caller's own work; one of the log stays as it is.
  init(_ error: any Error) {
    self = (error as? StorageError).map(LogError.storage) ?? LogError(ofCaller: error)
  }

  /// Damage found at this offset, in words.
  static func damage(at offset: UInt64, _ reason: String) -> LogError {
    .damage(LogDamage(offset: offset, reason: reason))
  }

  /// Whether the error means that the file is damaged where it was read.
  var isDamage: Bool {
    switch self {
    case .damage, .header(.foreign): true
    default: false
    }
  }
}

extension Features {
  /// Throws `newerWriter` if a writer must know features that this engine does not.
  func requireWritable() throws(LogError) {
    switch permission {
    case .everything: return
    case .reading(let bits), .nothing(let bits): throw .newerWriter(bits)
    }
  }
}

/// Throws `tooLarge` if a payload of this length does not fit into a frame.
func requireFits(_ length: Int) throws(LogError) {
  let limit = FormatLimits.maximumPayload
  guard length <= limit else { throw .tooLarge(length: length, limit: limit) }
}

/// Runs a storage operation, or work of the caller, and wraps its error.
@inline(__always)
func wrapping<R>(_ body: () throws -> R) throws(LogError) -> R {
  do { return try body() } catch { throw LogError(error) }
}

/// Decodes what is in the frame at `offset`, and wraps the fault.
@inline(__always)
func decoding<R>(
  at offset: UInt64, _ body: () throws(DecodeFault) -> R
) throws(LogError) -> R {
  do throws(DecodeFault) { return try body() } catch { throw .decode(error, at: offset) }
}

extension ContiguousArray<UInt8> {
  /// Decodes the payload of the frame at `offset`, and wraps the fault.
  func decoded<R>(
    at offset: UInt64, _ body: (UnsafeRawBufferPointer) throws(DecodeFault) -> R
  ) throws(LogError) -> R {
    try decoding(at: offset) { () throws(DecodeFault) in try withBytes(body) }
  }
}
