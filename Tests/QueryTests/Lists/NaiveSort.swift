import AnnalsModel
import AnnalsState
import Foundation
import Testing

/// The order of boxed values, as plain as it can be.
struct NaiveSort {
  let keys: [SortKey]
  let areTiesDescending: Bool
  let state: State

  func value(_ row: Int64, _ key: SortKey) throws -> Value {
    var object = ObjectReference(entity: 1, row: row)
    for (place, name) in key.path.names.enumerated() {
      if name == "id" { return .object(object) }
      let entity = state.schema.entity(numbered: object.entity)
      let number = try #require(entity?.propertyNumber(named: name))
      let value = try state.value(object.entity, object.row, number)
      guard case .object(let next) = value, entity?.relationship(named: name) != nil else {
        return place == key.path.names.count - 1 ? value : .null
      }
      guard try state.contains(next.entity, next.row) else { return .null }
      object = next
    }
    return .object(object)
  }

  func isLess(_ a: Int64, _ b: Int64) throws -> Bool {
    for key in keys {
      let order = NaiveSort.compare(try value(a, key), try value(b, key), key)
      if order != 0 { return order < 0 }
    }
    return areTiesDescending ? a > b : a < b
  }

  func sorted(_ rows: [Int64]) throws -> [Int64] { try rows.sorted { try isLess($0, $1) } }

  static func compare(_ a: Value, _ b: Value, _ key: SortKey) -> Int {
    var plain = key
    plain.order = []
    // Nil, the listed values, all others, nil.
    func place(_ value: Value) -> Int {
      if let place = key.order.firstIndex(where: { compare($0, value, plain) == 0 }) {
        return place
      }
      return value.isNull ? (key.areNilsFirst ? -1 : .max) : key.order.count
    }
    if !key.order.isEmpty, place(a) != place(b) { return place(a) < place(b) ? -1 : 1 }
    if a.isNull || b.isNull {
      if a.isNull && b.isNull { return 0 }
      return a.isNull == key.areNilsFirst ? -1 : 1
    }
    var order = precedes(a, b) ? -1 : precedes(b, a) ? 1 : 0
    if case .string(let x) = a, case .string(let y) = b {
      if key.textOrder == .caseInsensitive {
        order = bytes(x.lowercased(), y.lowercased())
      } else if key.textOrder != .binary {
        order = x.compare(y, locale: Locale(identifier: "de_DE")).rawValue
      }
    }
    return key.isDescending ? -order : order
  }

  private static func bytes(_ a: String, _ b: String) -> Int {
    a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : b.utf8.lexicographicallyPrecedes(a.utf8) ? 1 : 0
  }

  private static func rank(_ value: Value) -> UInt8 {
    switch value.tag {
    case .double, .decimal: ValueTag.int.rawValue
    case .day: ValueTag.objects.rawValue
    default: value.tag.rawValue
    }
  }

  private static func precedes(_ a: Value, _ b: Value) -> Bool {
    if rank(a) != rank(b) { return rank(a) < rank(b) }
    switch (a, b) {
    case (.bool(let a), .bool(let b)): return !a && b
    case (.int(let a), .int(let b)): return a < b
    case (.double(let a), .double(let b)):
      return a < b || a == b && a.sign == .minus && b.sign == .plus
    case (.int(let a), .double(let b)):
      // Whole numbers and doubles meet where both are exact.
      return abs(b) < 1e19 ? Decimal(a) < Decimal(b) : b > 0
    case (.double(let a), .int(let b)):
      if a == 0, a.sign == .minus, b == 0 { return true }
      return abs(a) < 1e19 ? Decimal(a) < Decimal(b) : a < 0
    case (.decimal(let a), .decimal(let b)): return a < b
    case (.decimal(let a), .int(let b)): return a < RawDecimal(b)
    case (.int(let a), .decimal(let b)): return RawDecimal(a) < b
    case (.decimal(let a), .double(let b)): return Outcome.ofNumbers(a, b) == .less
    case (.double(let a), .decimal(let b)):
      if a == 0, a.sign == .minus, b == .zero { return true }
      return Outcome.ofNumbers(b, a) == .greater
    case (.day(let a), .day(let b)): return a < b
    case (.date(let a), .date(let b)): return a < b
    case (.uuid(let a), .uuid(let b)): return a < b
    case (.data(let a), .data(let b)): return a.lexicographicallyPrecedes(b)
    case (.object(let a), .object(let b)): return a < b
    case (.string(let a), .string(let b)), (.url(let a), .url(let b)), (.json(let a), .json(let b)):
      return bytes(a, b) < 0
    default: return false
    }
  }
}
