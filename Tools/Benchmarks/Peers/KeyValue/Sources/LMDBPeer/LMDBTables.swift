import CLMDB
import Foundation
import KeyValuePosts
import Measuring

@main
enum LMDBPeer {
  static func main() {
    KeyValueProgram.main("lmdb-history") { folder, isDurable, isNew in
      try LMDBTables(folder, isDurable: isDurable, isNew: isNew)
    }
  }
}

/// Tables in an environment of LMDB: a database each. A commit syncs, or leaves that to the system.
final class LMDBTables: OrderedTables {
  private static let mapSize = 4 << 30

  private let folder: String
  private let flags: UInt32
  private var environment: OpaquePointer?
  private var databases: [MDB_dbi] = []
  /// The transaction under way, of whichever kind.
  private var transaction: OpaquePointer?

  init(_ folder: String, isDurable: Bool, isNew: Bool) throws {
    self.folder = folder
    flags = UInt32(MDB_NOTLS) | (isDurable ? 0 : UInt32(MDB_NOSYNC))
    if isNew {
      for name in ["data.mdb", "lock.mdb"] { unlink("\(folder)/\(name)") }
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true)
    }
    try open(isNew: isNew)
  }

  private func open(isNew: Bool) throws {
    try check(mdb_env_create(&environment))
    try check(mdb_env_set_mapsize(environment, Self.mapSize))
    try check(mdb_env_set_maxdbs(environment, UInt32(Table.allCases.count)))
    try check(mdb_env_open(environment, folder, flags, 0o644))
    try check(mdb_txn_begin(environment, nil, isNew ? 0 : UInt32(MDB_RDONLY), &transaction))
    databases = try Table.allCases.map { table in
      var database: MDB_dbi = 0
      try check(
        mdb_dbi_open(transaction, "\(table)", isNew ? UInt32(MDB_CREATE) : 0, &database))
      return database
    }
    try check(mdb_txn_commit(transaction))
    transaction = nil
  }

  func write(_ body: () throws -> Void) throws {
    try check(mdb_txn_begin(environment, nil, 0, &transaction))
    do {
      try body()
    } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    try check(mdb_txn_commit(transaction))
    transaction = nil
  }

  func read<R>(_ body: () throws -> R) throws -> R {
    try check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction))
    defer {
      mdb_txn_abort(transaction)
      transaction = nil
    }
    return try body()
  }

  func put(
    _ table: Table, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, isLast: Bool
  ) throws {
    var (key, value) = (MDB_val(key), MDB_val(value))
    try check(
      mdb_put(
        transaction, databases[table.rawValue], &key, &value, isLast ? UInt32(MDB_APPEND) : 0))
  }

  func delete(_ table: Table, _ key: UnsafeRawBufferPointer) throws {
    var key = MDB_val(key)
    try check(mdb_del(transaction, databases[table.rawValue], &key, nil))
  }

  func get(
    _ table: Table, _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var (key, value) = (MDB_val(key), MDB_val())
    try check(mdb_get(transaction, databases[table.rawValue], &key, &value))
    try body(value.bytes)
  }

  func scan(
    _ table: Table, from key: UnsafeRawBufferPointer?, backward: Bool,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    var cursor: OpaquePointer?
    try check(mdb_cursor_open(transaction, databases[table.rawValue], &cursor))
    defer { mdb_cursor_close(cursor) }
    var (found, value) = (key.map(MDB_val.init) ?? MDB_val(), MDB_val())
    let first = key == nil ? (backward ? MDB_LAST : MDB_FIRST) : MDB_SET_RANGE
    let next = backward ? MDB_PREV : MDB_NEXT
    var code = mdb_cursor_get(cursor, &found, &value, first)
    while code == 0 {
      guard try body(found.bytes, value.bytes) else { return }
      code = mdb_cursor_get(cursor, &found, &value, next)
    }
    if code != MDB_NOTFOUND { try check(code) }
  }

  /// Deletes, and copies what is left into a new file, as LMDB's manual says: it never shrinks one.
  func pruneLog(before key: UnsafeRawBufferPointer) throws {
    let end = Array(key)
    try write {
      var cursor: OpaquePointer?
      try check(mdb_cursor_open(transaction, databases[Table.log.rawValue], &cursor))
      defer { mdb_cursor_close(cursor) }
      var (found, value) = (MDB_val(), MDB_val())
      while mdb_cursor_get(cursor, &found, &value, MDB_FIRST) == 0,
        found.bytes.lexicographicallyPrecedes(end)
      {
        try check(mdb_cursor_del(cursor, 0))
      }
    }
    let copy = folder + "/copy"
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
    try check(mdb_env_copy2(environment, copy, UInt32(MDB_CP_COMPACT)))
    mdb_env_close(environment)
    guard rename(copy + "/data.mdb", folder + "/data.mdb") == 0 else {
      throw TableFailure("the copy cannot be put in place")
    }
    try FileManager.default.removeItem(atPath: copy)
    try open(isNew: false)
  }

  func settle() throws { try check(mdb_env_sync(environment, 1)) }

  var fileSize: Int { Footprint.file(folder + "/data.mdb") }

  private func check(_ code: Int32) throws {
    if code != 0 { throw TableFailure(String(cString: mdb_strerror(code))) }
  }
}

extension MDB_val {
  fileprivate init(_ bytes: UnsafeRawBufferPointer) {
    self.init(
      mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }

  fileprivate var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: mv_data, count: mv_size)
  }
}
