/// The tables of a store of posts with their history.
public enum Table: Int, CaseIterable, Sendable {
  /// Changes by the number of the transaction and of the change in it, with the values before and
  /// after.
  case log
  /// The newest values of each object, by its number.
  case posts
  /// Nothing, by date and number of each object.
  case dates
}

/// What LMDB and RocksDB have in common: tables of bytes, in the order of their keys, that are
/// written in transactions.
public protocol OrderedTables: AnyObject {
  /// Makes everything that `body` puts and deletes durable at once, as set up when opened.
  func write(_ body: () throws -> Void) throws
  /// Keeps one state for all that `body` reads.
  func read<R>(_ body: () throws -> R) throws -> R
  /// Puts a value; `isLast` says that the key is behind all others.
  func put(
    _ table: Table, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, isLast: Bool
  ) throws
  /// Deletes a key.
  func delete(_ table: Table, _ key: UnsafeRawBufferPointer) throws
  /// Calls `body` with the value, within `read` or `write`; throws if there is none.
  func get(
    _ table: Table, _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws
  /// Calls `body` with keys and values, within `read`, from a key on (that key included; nil for
  /// the first or last) until it returns false.
  func scan(
    _ table: Table, from key: UnsafeRawBufferPointer?, backward: Bool,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Bool
  ) throws
  /// Deletes the log before a key, and gives the space back.
  func pruneLog(before key: UnsafeRawBufferPointer) throws
  /// Writes out what is only in memory, for the size of the files.
  func settle() throws
  /// The bytes of the files.
  var fileSize: Int { get }
}

/// A failure that the library reports, or an answer that cannot be right.
public struct TableFailure: Error, CustomStringConvertible {
  /// What failed.
  public let description: String

  /// A failure for this reason.
  public init(_ description: String) {
    self.description = description
  }
}
