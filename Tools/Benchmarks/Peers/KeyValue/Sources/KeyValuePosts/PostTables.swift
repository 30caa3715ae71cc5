import Foundation
import Workload

/// Posts with their history in tables: each change of an object changes its row and its date, and
/// adds a change to the log.
final class PostTables {
  let tables: any OrderedTables
  private var row = PackedBytes()
  private var change = PackedBytes()
  private var key = PackedBytes()
  private var transaction: UInt32
  private var changes: UInt32 = 0

  /// Goes on after a number of transactions.
  init(_ tables: any OrderedTables, after transaction: Int = 0) {
    self.tables = tables
    self.transaction = UInt32(transaction)
  }

  /// A transaction. The first change of each holds its time, author and context.
  func write(_ body: () throws -> Void) throws {
    transaction += 1
    changes = 0
    try tables.write(body)
  }

  /// What a transaction is, written before its first change.
  struct Origin {
    var time: Int64
    var author: Int
    var context: Int
  }

  func insert(_ object: Int, _ post: WorkloadPost, _ origin: Origin, logged: Bool = true) throws {
    row.clear()
    row.add(.ofNewPost, of: post)
    if logged {
      begin(.insert, object, .ofNewPost, origin)
      change.add(row.bytes)
      try log()
    }
    try tables.put(.posts, rowKey(object), row.bytes, isLast: true)
    try tables.put(.dates, dateKey(post.timestamp, object), Self.nothing, isLast: false)
  }

  func delete(_ object: Int, _ origin: Origin) throws {
    begin(.delete, object, .ofNewPost, origin)
    var old: Int64 = 0
    try tables.get(.posts, rowKey(object)) { row in
      old = PackedPost.timestamp(row)
      change.add(row)
    }
    try log()
    try tables.delete(.posts, rowKey(object))
    try tables.delete(.dates, dateKey(old, object))
  }

  func update(
    _ object: Int, _ properties: PropertySet, _ post: WorkloadPost, _ origin: Origin
  ) throws {
    begin(.update, object, properties, origin)
    row.clear()
    var old: Int64 = 0
    try tables.get(.posts, rowKey(object)) { before in
      old = PackedPost.timestamp(before)
      var reader = PackedReader(before)
      for property in PostProperty.allCases {
        let value = reader.slice(of: property)
        if properties.contains(property) {
          change.add(value)
          row.add(PropertySet(property), of: post)
        } else {
          row.add(value)
        }
      }
    }
    change.add(properties, of: post)
    try log()
    try tables.put(.posts, rowKey(object), row.bytes, isLast: false)
    if properties.contains(.timestamp) {
      try tables.delete(.dates, dateKey(old, object))
      try tables.put(.dates, dateKey(post.timestamp, object), Self.nothing, isLast: false)
    }
  }

  private func begin(
    _ kind: Workload.Kind, _ object: Int, _ properties: PropertySet, _ origin: Origin
  ) {
    change.clear()
    if changes == 0 {
      change.add(origin.time)
      change.add(UInt8(origin.author))
      change.add(UInt8(origin.context))
    }
    change.add(UInt8(kind.rawValue))
    change.add(UInt32(object))
    change.add(properties.rawValue)
  }

  private func log() throws {
    try tables.put(.log, logKey(Int(transaction), change: changes), change.bytes, isLast: true)
    changes += 1
  }

  // MARK: Keys

  private static var nothing: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: nil, count: 0)
  }

  /// Numbers in keys begin with their highest byte, so that bytes have the order of numbers.
  func logKey(_ transaction: Int, change: UInt32 = 0) -> UnsafeRawBufferPointer {
    key.clear()
    key.add(UInt32(transaction).bigEndian)
    key.add(change.bigEndian)
    return key.bytes
  }

  func rowKey(_ object: Int) -> UnsafeRawBufferPointer {
    key.clear()
    key.add(UInt32(object).bigEndian)
    return key.bytes
  }

  func dateKey(_ date: Int64, _ object: Int) -> UnsafeRawBufferPointer {
    key.clear()
    key.add(date.bigEndian)
    key.add(UInt32(object).bigEndian)
    return key.bytes
  }

  /// The object of a key of dates.
  static func object(_ dateKey: UnsafeRawBufferPointer) -> Int {
    Int(UInt32(bigEndian: dateKey.loadUnaligned(fromByteOffset: 8, as: UInt32.self)))
  }

  /// The object of a key of posts.
  static func object(ofRow rowKey: UnsafeRawBufferPointer) -> Int {
    Int(UInt32(bigEndian: rowKey.loadUnaligned(as: UInt32.self)))
  }
}

/// A change of the log, as it is read.
struct LoggedChange {
  let kind: Workload.Kind
  let object: Int
  let properties: PropertySet
  /// The values: before, after, or one behind the other.
  var values: PackedReader

  init(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
    var reader = PackedReader(value)
    if key.loadUnaligned(fromByteOffset: 4, as: UInt32.self) == 0 {
      _ = reader.number(Int64.self)
      _ = reader.number(UInt16.self)
    }
    guard let kind = Workload.Kind(rawValue: Int(reader.number(UInt8.self))) else {
      throw TableFailure("a change is of no kind")
    }
    self.kind = kind
    object = Int(reader.number(UInt32.self))
    properties = PropertySet(rawValue: reader.number(UInt16.self))
    values = reader
  }
}
