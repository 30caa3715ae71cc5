import AnnalsModel
import AnnalsState
import AnnalsTestSupport
import Foundation
import Testing

/// Objects in the order of an index, by comparing their values; nothing of it is the index's.
struct NaiveOrder {
  var columns: [IndexShape.Column]
  var isUnique: Bool
  var isBox: Bool
  var tests: [IndexShape.Test]

  init(_ shape: IndexShape) {
    columns = shape.columns
    isBox = shape.kind == .box
    isUnique = shape.isUnique
    tests = shape.tests
  }

  /// Whether a partial index is of this object.
  func includes(_ object: [PropertyNumber: Value]) -> Bool {
    tests.allSatisfy { test in
      let value = object[test.property] ?? test.valueForNull ?? .null
      func number(_ value: Value) -> Double? {
        switch value {
        case .int(let number): Double(number)
        case .double(let number): number
        case .decimal(let number): number.nearestDouble
        default: nil
        }
      }
      let isEqual: Bool
      var order = 0
      if let a = number(value), let b = number(test.value) {
        isEqual = a == b
        order = a < b ? -1 : a > b ? 1 : 0
      } else {
        isEqual = value == test.value
        if value.isNull || value.tag != test.value.tag {
          return isEqual == (test.comparison != .notEqual) && !test.comparison.isOrder
        }
        order = ascending(value, test.value)
      }
      switch test.comparison {
      case .equal: return isEqual
      case .notEqual: return !isEqual
      case .less: return order < 0
      case .lessOrEqual: return order <= 0
      case .greater: return order > 0
      case .greaterOrEqual: return order >= 0
      }
    }
  }

  /// The rows of these objects, in order.
  func rows(_ objects: [Int64: [PropertyNumber: Value]]) -> [Int64] {
    let keys = objects.filter { includes($0.value) }.mapValues { object in
      columns.map { object[$0.property] ?? $0.valueForNull ?? .null }
    }
    let present = keys.filter { !isUnique && !isBox || !$0.value.contains(.null) }
    if isBox {
      return present.mapValues(NaiveOrder.words).sorted { a, b in
        let order = NaiveOrder.compareCodes(a.value, b.value)
        return order == 0 ? a.key < b.key : order < 0
      }.map(\.key)
    }
    return present.sorted { a, b in
      let (isLargeA, isLargeB) = (isLarge(a.value), isLarge(b.value))
      if isLargeA != isLargeB { return isLargeB }
      let order = isLargeA ? 0 : compare(a.value, b.value)
      return order == 0 ? a.key < b.key : order < 0
    }.map(\.key)
  }

  /// Numbers and dates as words that rise with them.
  private static func words(_ values: [Value]) -> [UInt64] {
    values.map { value -> UInt64 in
      switch value {
      case .int(let number): UInt64(bitPattern: number) &+ 1 << 63
      case .date(let date): UInt64(bitPattern: date.microseconds) &+ 1 << 63
      case .day(let day): UInt64(bitPattern: day.daysSince1970) &+ 1 << 63
      case .double(let number) where number.sign == .plus: number.bitPattern + 1 << 63
      case .double(let number): UInt64.max - number.bitPattern
      default: 0
      }
    }
  }

  /// Which of two codes comes first: the column decides whose words differ in the highest bit.
  private static func compareCodes(_ a: [UInt64], _ b: [UInt64]) -> Int {
    var place = 0
    for column in 1..<a.count
    where (a[column] ^ b[column]).leadingZeroBitCount < (a[place] ^ b[place]).leadingZeroBitCount {
      place = column
    }
    return a[place] < b[place] ? -1 : a[place] == b[place] ? 0 : 1
  }

  private func isLarge(_ values: [Value]) -> Bool {
    values.contains { if case .large = $0 { true } else { false } }
  }

  /// Below 0 if the first values come first, for as many columns as both have.
  func compare(_ a: [Value], _ b: [Value]) -> Int {
    // By number: unoptimised, a zip takes several times as long.
    for column in 0..<min(columns.count, a.count, b.count) {
      let order = compare(a[column], b[column], columns[column])
      if order != 0 { return order }
    }
    return 0
  }

  private func compare(_ a: Value, _ b: Value, _ column: IndexShape.Column) -> Int {
    switch (a.isNull, b.isNull) {
    case (true, true): return 0
    case (true, false): return column.nullsFirst ? -1 : 1
    case (false, true): return column.nullsFirst ? 1 : -1
    case (false, false): break
    }
    let order = ascending(a, b)
    return column.isDescending ? -order : order
  }

  private func ascending(_ a: Value, _ b: Value) -> Int {
    func order<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : a == b ? 0 : 1 }
    // The length decides where one begins with the other.
    func bytes(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
      let count = min(a.count, b.count)
      if count > 0, let a = a.baseAddress, let b = b.baseAddress {
        let order = memcmp(a, b, count)
        if order != 0 { return order < 0 ? -1 : 1 }
      }
      return order(a.count, b.count)
    }
    func text(_ a: String, _ b: String) -> Int {
      var (a, b) = (a, b)
      return a.withUTF8 { a in b.withUTF8 { b in bytes(.init(a), .init(b)) } }
    }
    // Decimals behind days, both in front of what was erased.
    func kind(_ tag: ValueTag) -> Int {
      tag == .day ? 110 : tag == .decimal ? 111 : 10 * Int(tag.rawValue)
    }
    if a.tag != b.tag { return order(kind(a.tag), kind(b.tag)) }
    switch (a, b) {
    case (.bool(let a), .bool(let b)): return order(a ? 1 : 0, b ? 1 : 0)
    case (.int(let a), .int(let b)): return order(a, b)
    case (.double(let a), .double(let b)):
      // -0.0 before 0.0.
      return a == b ? order(a.sign == .minus ? 0 : 1, b.sign == .minus ? 0 : 1) : order(a, b)
    case (.decimal(let a), .decimal(let b)): return order(a, b)
    case (.day(let a), .day(let b)): return order(a, b)
    case (.date(let a), .date(let b)): return order(a, b)
    case (.uuid(let a), .uuid(let b)):
      return a.high == b.high ? order(a.low, b.low) : order(a.high, b.high)
    case (.object(let a), .object(let b)):
      return a.entity == b.entity ? order(a.row, b.row) : order(a.entity, b.entity)
    case (.data(let a), .data(let b)):
      return a.withUnsafeBytes { a in b.withUnsafeBytes { b in bytes(a, b) } }
    case (.string(let a), .string(let b)), (.url(let a), .url(let b)), (.json(let a), .json(let b)):
      return text(a, b)
    default: return 0
    }
  }
}

extension IndexView {
  /// All rows in the order of the index, read one by one either way, all at once, and by place.
  func checkedRows(_ comment: Comment) throws -> [Int64] {
    func read(isBackward: Bool) throws -> [Int64] {
      var rows: [Int64] = []
      try forEachRow(in: 0..<count, isBackward: isBackward, reversesTies: false) {
        (row: Int64) throws(StateFault) in
        rows.append(row)
        return true
      }
      return rows
    }
    let rows = try read(isBackward: false)
    #expect(rows.count == count, comment)
    #expect(try rows == read(isBackward: true).reversed(), comment)
    #expect(
      try rows == self.rows(in: 0..<count, isBackward: false, reversesTies: false), comment)
    for place in stride(from: 0, to: rows.count, by: max(1, rows.count / 40)) {
      #expect(try row(at: place) == rows[place], comment)
    }
    return rows
  }
}
