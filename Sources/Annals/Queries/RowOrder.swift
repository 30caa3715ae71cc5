import AnnalsEngine
import AnnalsModel
import AnnalsState
import Foundation

/// The order of rows by sort keys.
struct RowOrder {
  /// One key, its path as numbers.
  private struct Key {
    var key: SortKey
    var hops: [PropertyNumber] = []
    /// The attribute at the end; 0 for an object.
    var property: PropertyNumber = 0
    /// What the attribute reads as where there is no value.
    var fallback = Value.null
  }

  private var keys: [Key] = []
  private let entity: EntityNumber
  private let reader: StateReader

  /// The order of the rows of an entity. Throws `.invalidArgument` for a path that leads to no
  /// attribute and no to-one relationship.
  init(_ keys: [SortKey], _ entity: EntityNumber, _ reader: StateReader) throws(AnnalsError) {
    self.entity = entity
    self.reader = reader
    for key in keys {
      var bound = Key(key: key)
      var place = reader.state.schema.entity(numbered: entity)
      for (index, name) in key.path.names.enumerated() {
        if let relationship = place?.relationship(named: name), !relationship.isToMany {
          bound.hops.append(relationship.number)
          place = reader.state.schema.entity(numbered: relationship.destination)
        } else if let attribute = place?.attribute(named: name),
          index == key.path.names.count - 1
        {
          bound.property = attribute.number
          if !attribute.isOptional { bound.fallback = attribute.defaultValue ?? .null }
        } else {
          throw AnnalsError(.invalidArgument, "nothing can be sorted by \(key.path)")
        }
      }
      self.keys.append(bound)
    }
  }

  /// The rows in order. O(n log n), with the keys of all of them in memory.
  func sorted(_ rows: [Int64], areTiesDescending: Bool) throws(AnnalsError) -> [Int64] {
    var entries: [(row: Int64, values: [Value])] = []
    entries.reserveCapacity(rows.count)
    for row in rows {
      var values: [Value] = []
      for key in keys { values.append(try value(of: row, key)) }
      entries.append((row, values))
    }
    entries.sort { a, b in
      for (index, key) in keys.enumerated() {
        switch key.key.compare(a.values[index], b.values[index]) {
        case .orderedAscending: return true
        case .orderedDescending: return false
        case .orderedSame: continue
        }
      }
      return areTiesDescending ? a.row > b.row : a.row < b.row
    }
    return entries.map(\.row)
  }

  private func value(of row: Int64, _ key: Key) throws(AnnalsError) -> Value {
    var object = ObjectReference(entity: entity, row: row)
    func stored(_ property: PropertyNumber) throws(AnnalsError) -> Value {
      try AnnalsError.translating { () throws(StateFault) in
        try reader.state.value(object.entity, object.row, property)
      }
    }
    for hop in key.hops {
      guard case .object(let target) = try stored(hop),
        try AnnalsError.translating({ () throws(StateFault) in
          try reader.state.contains(target.entity, target.row)
        })
      else { return .null }
      object = target
    }
    guard key.property > 0 else { return key.hops.isEmpty ? .null : .object(object) }
    switch try stored(key.property) {
    case .null: return key.fallback
    case .large(let large):
      guard let bytes = try reader.largeValues.bytesLeft(of: large) else { return .null }
      return key.key.prepared(Value(bytes: bytes, tag: large.tag))
    case let value: return key.key.prepared(value)
    }
  }
}

extension SortKey {
  /// The value as it is compared: texts without case where case does not count.
  fileprivate func prepared(_ value: Value) -> Value {
    guard textOrder.base == .caseInsensitive, case .string(let text) = value else { return value }
    return .string(text.lowercased())
  }

  fileprivate func compare(_ a: Value, _ b: Value) -> ComparisonResult {
    if a.isNull || b.isNull {
      if a.isNull && b.isNull { return .orderedSame }
      return a.isNull == areNilsFirst ? .orderedAscending : .orderedDescending
    }
    let order: ComparisonResult
    if case .localized(let locale) = textOrder.base, case .string(let x) = a,
      case .string(let y) = b
    {
      order = x.compare(y, locale: locale.map { Locale(identifier: $0) } ?? .current)
    } else {
      order = a.precedes(b) ? .orderedAscending : b.precedes(a) ? .orderedDescending : .orderedSame
    }
    guard isDescending, order != .orderedSame else { return order }
    return order == .orderedAscending ? .orderedDescending : .orderedAscending
  }
}

extension Value {
  /// Whether this comes before the other: by kind, numbers being one kind, then by value.
  fileprivate func precedes(_ other: Value) -> Bool {
    switch (self, other) {
    case (.bool(let a), .bool(let b)): return !a && b
    case (.int(let a), .int(let b)): return a < b
    case (.double(let a), .double(let b)):
      // -0.0 before 0.0, as in indexes.
      return a < b || a == b && a.sign == .minus && b.sign == .plus
    case (.int(let a), .double(let b)): return Value.isLess(a, b)
    case (.double(let a), .int(let b)): return Value.isLess(a, b)
    case (.string(let a), .string(let b)), (.url(let a), .url(let b)), (.json(let a), .json(let b)):
      return a.precedesInBytes(b)
    case (.date(let a), .date(let b)): return a < b
    case (.uuid(let a), .uuid(let b)): return a < b
    case (.data(let a), .data(let b)): return a.lexicographicallyPrecedes(b)
    case (.object(let a), .object(let b)): return a < b
    default:
      let a = tag == .double ? ValueTag.int.rawValue : tag.rawValue
      let b = other.tag == .double ? ValueTag.int.rawValue : other.tag.rawValue
      return a < b
    }
  }

  /// Whether a whole number is less than a double, neither rounded.
  private static func isLess(_ a: Int64, _ b: Double) -> Bool {
    if b >= 0x1p63 { return true }
    if b < -0x1p63 { return false }
    let whole = Int64(b)
    return a < whole || a == whole && b > Double(whole)
  }
  private static func isLess(_ a: Double, _ b: Int64) -> Bool {
    if a >= 0x1p63 { return false }
    if a < -0x1p63 { return true }
    let whole = Int64(a)
    return whole < b || whole == b && a < Double(whole)
  }
}
