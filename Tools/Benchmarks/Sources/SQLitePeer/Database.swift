import CSQLite
import Foundation
import Measuring
import Workload

/// A minimal connection to an SQLite file.
final class Database {
  private var handle: OpaquePointer?

  init(_ path: String) throws {
    guard sqlite3_open(path, &handle) == SQLITE_OK else { throw Failure("\(path) does not open") }
  }

  deinit { sqlite3_close_v2(handle) }

  /// Runs statements that return nothing.
  func run(_ text: String) throws {
    guard sqlite3_exec(handle, text, nil, nil, nil) == SQLITE_OK else { throw failure(text) }
  }

  /// Prepares a statement.
  func prepare(_ text: String) throws -> Statement {
    var statement: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    guard sqlite3_prepare_v3(handle, text, -1, flags, &statement, nil) == SQLITE_OK,
      let statement
    else { throw failure(text) }
    return Statement(statement)
  }

  private func failure(_ text: String) -> Failure {
    Failure("\(String(cString: sqlite3_errmsg(handle))) in: \(text)")
  }
}

/// A prepared statement.
final class Statement {
  private let handle: OpaquePointer

  init(_ handle: OpaquePointer) {
    self.handle = handle
  }

  deinit { sqlite3_finalize(handle) }

  func bind(_ place: Int32, _ number: Int64) {
    sqlite3_bind_int64(handle, place, number)
  }

  func bind(_ place: Int32, _ number: Int) {
    sqlite3_bind_int64(handle, place, Int64(number))
  }

  /// Binds a property of a post. Copies texts and bytes.
  func bind(_ place: Int32, _ property: PostProperty, of post: WorkloadPost) {
    switch property {
    case .identifier:
      withUnsafeBytes(of: post.identifier.uuid) {
        _ = sqlite3_bind_blob(handle, place, $0.baseAddress, 16, Self.copied)
      }
    case .timestamp: sqlite3_bind_int64(handle, place, post.timestamp)
    case .title: bind(place, post.titleText)
    case .url: bind(place, post.url)
    case .source: bind(place, post.sourceText)
    case .image: sqlite3_bind_null(handle, place)
    case .posted: sqlite3_bind_int64(handle, place, Int64(post.posted))
    case .latitude: sqlite3_bind_double(handle, place, post.latitude)
    case .longitude: sqlite3_bind_double(handle, place, post.longitude)
    }
  }

  func bind(_ place: Int32, _ text: String) {
    var text = text
    text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        _ = sqlite3_bind_text(handle, place, $0.baseAddress, Int32($0.count), Self.copied)
      }
    }
  }

  /// Runs a statement that returns nothing.
  func run() throws {
    guard sqlite3_step(handle) == SQLITE_DONE else { throw Failure("a statement failed") }
    sqlite3_reset(handle)
  }

  /// Steps through all rows and reads every column. Returns the number of rows.
  func readAll() -> Int {
    let columns = sqlite3_column_count(handle)
    var rows = 0
    var sum: Int64 = 0
    while sqlite3_step(handle) == SQLITE_ROW {
      rows += 1
      for column in 0..<columns { sum &+= touch(column) }
    }
    sqlite3_reset(handle)
    Statement.sink &+= sum
    return rows
  }

  /// Goes to the next row. False after the last.
  func step() -> Bool { sqlite3_step(handle) == SQLITE_ROW }

  /// Makes the statement ready to begin anew.
  func reset() { sqlite3_reset(handle) }

  func int(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }

  func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  func text(_ column: Int32) -> String {
    guard let start = sqlite3_column_text(handle, column) else { return "" }
    return String(decodingCString: start, as: UTF8.self)
  }

  /// The bytes of a column, until the next step; nil for null.
  func blob(_ column: Int32) -> UnsafeRawBufferPointer? {
    guard let start = sqlite3_column_blob(handle, column) else { return nil }
    return UnsafeRawBufferPointer(
      start: start, count: Int(sqlite3_column_bytes(handle, column)))
  }

  /// Reads every column of this row.
  func touchRow() {
    var sum: Int64 = 0
    for column in 0..<sqlite3_column_count(handle) { sum &+= touch(column) }
    Statement.sink &+= sum
  }

  /// Keeps a number, so that making it is not optimised away.
  static func consume(_ number: Int64) { sink &+= number }

  /// The number in the first column of the first row.
  func number() -> Int {
    defer { sqlite3_reset(handle) }
    return sqlite3_step(handle) == SQLITE_ROW ? Int(sqlite3_column_int64(handle, 0)) : -1
  }

  private func touch(_ column: Int32) -> Int64 {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: return sqlite3_column_int64(handle, column)
    case SQLITE_FLOAT: return Int64(sqlite3_column_double(handle, column))
    case SQLITE_NULL: return 0
    default:
      let bytes = sqlite3_column_blob(handle, column)?.load(as: UInt8.self) ?? 0
      return Int64(bytes) + Int64(sqlite3_column_bytes(handle, column))
    }
  }

  /// SQLITE_TRANSIENT, a macro that Swift does not import.
  private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
  /// Consumes values, so that reading them is not optimised away.
  nonisolated(unsafe) private(set) static var sink: Int64 = 0
}
