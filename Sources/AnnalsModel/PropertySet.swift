/// A set of properties of one entity.
package struct PropertySet: Hashable, Sendable {
  /// The properties with numbers below 64, one bit each.
  private var low: UInt64 = 0
  /// The others; never empty.
  private var high: Set<PropertyNumber>?

  package init() {}

  package var isEmpty: Bool { low == 0 && high == nil }

  package mutating func insert(_ property: PropertyNumber) {
    if property < 64 {
      low |= 1 << UInt64(property)
    } else {
      high = (high ?? []).union([property])
    }
  }

  package func contains(_ property: PropertyNumber) -> Bool {
    property < 64 ? low & 1 << UInt64(property) != 0 : high?.contains(property) ?? false
  }

  package mutating func formUnion(_ other: PropertySet) {
    low |= other.low
    if let more = other.high { high = (high ?? []).union(more) }
  }

  package func isDisjoint(with other: PropertySet) -> Bool {
    guard low & other.low == 0 else { return false }
    guard let high, let others = other.high else { return true }
    return high.isDisjoint(with: others)
  }

  /// The numbers, rising.
  package var numbers: [PropertyNumber] {
    (0..<64).filter { low & 1 << UInt64($0) != 0 }.map { PropertyNumber($0) }
      + (high ?? []).sorted()
  }
}
