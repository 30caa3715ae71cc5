import CRocksDB
import Foundation
import KeyValuePosts
import Measuring

@main
enum RocksDBPeer {
  static func main() {
    KeyValueProgram.main("rocksdb-history") { folder, isDurable, isNew in
      try RocksDBTables(folder, isDurable: isDurable, isNew: isNew)
    }
  }
}

/// Tables in RocksDB: a column family each, a batch for each transaction, LZ4, a cache of 64 MB and
/// filters of 10 bits a key, so that what is not there is not searched for.
final class RocksDBTables: OrderedTables {
  private let folder: String
  private var database: OpaquePointer?
  private var families: [OpaquePointer?] = []
  private let batch = rocksdb_writebatch_create()
  private let reading = rocksdb_readoptions_create()
  private let writing = rocksdb_writeoptions_create()

  init(_ folder: String, isDurable: Bool, isNew: Bool) throws {
    self.folder = folder
    let options = Self.options()
    if isNew { try check { rocksdb_destroy_db(options, folder, $0) } }
    rocksdb_writeoptions_set_sync(writing, isDurable ? 1 : 0)
    // The first family always exists; the posts are in it.
    let names = Table.allCases.map { $0 == .posts ? "default" : "\($0)" }
    let texts = names.map { strdup($0) }
    defer { for text in texts { free(text) } }
    var pointers = texts.map { UnsafePointer($0) }
    var each = [OpaquePointer?](repeating: options, count: names.count)
    families = [OpaquePointer?](repeating: nil, count: names.count)
    database = try check { error in
      rocksdb_open_column_families(
        options, folder, Int32(names.count), &pointers, &each, &families, error)
    }
  }

  deinit {
    for family in families { rocksdb_column_family_handle_destroy(family) }
    rocksdb_close(database)
  }

  private static func options() -> OpaquePointer? {
    let options = rocksdb_options_create()
    rocksdb_options_set_create_if_missing(options, 1)
    rocksdb_options_set_create_missing_column_families(options, 1)
    rocksdb_options_increase_parallelism(options, 2)
    rocksdb_options_set_compression(options, Int32(rocksdb_lz4_compression))
    let blocks = rocksdb_block_based_options_create()
    rocksdb_block_based_options_set_block_cache(blocks, rocksdb_cache_create_lru(64 << 20))
    rocksdb_block_based_options_set_filter_policy(
      blocks, rocksdb_filterpolicy_create_bloom_full(10))
    rocksdb_options_set_block_based_table_factory(options, blocks)
    return options
  }

  func write(_ body: () throws -> Void) throws {
    rocksdb_writebatch_clear(batch)
    try body()
    try check { rocksdb_write(database, writing, batch, $0) }
  }

  func read<R>(_ body: () throws -> R) throws -> R { try body() }

  func put(
    _ table: Table, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, isLast: Bool
  ) throws {
    rocksdb_writebatch_put_cf(
      batch, families[table.rawValue], key.characters, key.count, value.characters, value.count)
  }

  func delete(_ table: Table, _ key: UnsafeRawBufferPointer) throws {
    rocksdb_writebatch_delete_cf(batch, families[table.rawValue], key.characters, key.count)
  }

  func get(
    _ table: Table, _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let slice = try check { error in
      rocksdb_get_pinned_cf(
        database, reading, families[table.rawValue], key.characters, key.count, error)
    }
    guard let slice else { throw TableFailure("a key is missing") }
    defer { rocksdb_pinnableslice_destroy(slice) }
    var count = 0
    let value = rocksdb_pinnableslice_value(slice, &count)
    try body(UnsafeRawBufferPointer(start: value, count: count))
  }

  func scan(
    _ table: Table, from key: UnsafeRawBufferPointer?, backward: Bool,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    let iterator = rocksdb_create_iterator_cf(database, reading, families[table.rawValue])
    defer { rocksdb_iter_destroy(iterator) }
    if let key {
      rocksdb_iter_seek(iterator, key.characters, key.count)
    } else if backward {
      rocksdb_iter_seek_to_last(iterator)
    } else {
      rocksdb_iter_seek_to_first(iterator)
    }
    var (keyCount, valueCount) = (0, 0)
    while rocksdb_iter_valid(iterator) != 0 {
      let key = rocksdb_iter_key(iterator, &keyCount)
      let value = rocksdb_iter_value(iterator, &valueCount)
      guard
        try body(
          UnsafeRawBufferPointer(start: key, count: keyCount),
          UnsafeRawBufferPointer(start: value, count: valueCount))
      else { return }
      if backward { rocksdb_iter_prev(iterator) } else { rocksdb_iter_next(iterator) }
    }
    try check { rocksdb_iter_get_error(iterator, $0) }
  }

  /// Deletes a range, and compacts what held it.
  func pruneLog(before key: UnsafeRawBufferPointer) throws {
    let log = families[Table.log.rawValue]
    try write {
      rocksdb_writebatch_delete_range_cf(batch, log, "", 0, key.characters, key.count)
    }
    try settle()
    rocksdb_compact_range_cf(database, log, nil, 0, nil, 0)
  }

  func settle() throws {
    let options = rocksdb_flushoptions_create()
    defer { rocksdb_flushoptions_destroy(options) }
    for family in families { try check { rocksdb_flush_cf(database, options, family, $0) } }
  }

  var fileSize: Int { Footprint.folder(folder) }

  /// Calls RocksDB, and throws what it reports.
  @discardableResult
  private func check<R>(
    _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) throws -> R
  ) throws -> R {
    var error: UnsafeMutablePointer<CChar>?
    let result = try body(&error)
    if let error {
      defer { rocksdb_free(error) }
      throw TableFailure(String(cString: error))
    }
    return result
  }
}

extension UnsafeRawBufferPointer {
  fileprivate var characters: UnsafePointer<CChar>? {
    baseAddress?.assumingMemoryBound(to: CChar.self)
  }
}
