import AnnalsFormat
import AnnalsModel

// An index compares keys by kind and bytes, conditions compare numbers. So some values that are
// equal have several keys: 0.0 and -0.0, and in a column of any kind a number as int, as double and
// as decimal. Unique means that no two objects are equal, so a commit looks for the other keys,
// too.

extension State {
  /// Another row whose values for a unique rule are equal to those of this row, and have another
  /// key; nil if there is none. The indexes are up to date. O(log n).
  package func rowOfEqualKey(
    to row: Int64, of entity: EntityNumber, _ rule: UniqueRule
  ) throws(StateFault) -> Int64? {
    var keys: [[Value]] = [[]]
    for property in rule.properties {
      let forms = try value(entity, row, property).equalForms(
        inAnyKind: column(property, of: entity)?.kind == .any)
      guard !forms.isEmpty, keys.count * forms.count <= State.mostEqualKeys else { return nil }
      keys = keys.flatMap { key in forms.map { key + [$0] } }
    }
    // A row that a partial index does not have collides with nothing.
    guard keys.count > 1, try lookup(entity, rule: rule.number, values: keys[0]) == row else {
      return nil
    }
    for key in keys.dropFirst() {
      if let other = try lookup(entity, rule: rule.number, values: key), other != row {
        return other
      }
    }
    return nil
  }

  /// The most keys that are looked for: a rule over many numbers, all of them zero, has more.
  private static let mostEqualKeys = 4_096

  private func column(_ property: PropertyNumber, of entity: EntityNumber) -> Column? {
    guard let table = findTable(entity) else { return nil }
    return table.position(of: property).map { table.columns[$0] }
  }

  private func lookup(
    _ entity: EntityNumber, rule: PropertyNumber, values: [Value]
  ) throws(StateFault) -> Int64? {
    var bytes: ContiguousArray<UInt8> = []
    let cells = values.map { ValueCell($0, appendingTo: &bytes) }
    return try bytes.withBytes { arena throws(StateFault) in
      try lookup(entity, rule: rule, key: cells, in: arena)
    }
  }
}

extension Value {
  /// The values that are equal to this one, itself first; none for no value.
  fileprivate func equalForms(inAnyKind isOfAnyKind: Bool) -> [Value] {
    switch self {
    case .null, .erased, .objects: []
    case .int(let number) where isOfAnyKind:
      [self] + (Double(exactly: number)?.forms ?? []) + [.decimal(RawDecimal(number))]
    case .double(let number):
      number.forms + (isOfAnyKind ? number.formsOfOtherKinds : [])
    case .decimal(let number) where isOfAnyKind:
      [self] + (number.whole.map { [.int($0)] } ?? []) + (number.exactDouble?.forms ?? [])
    default: [self]
    }
  }
}

extension Double {
  /// The number, and the other zero for a zero.
  fileprivate var forms: [Value] { self == 0 ? [.double(self), .double(-self)] : [.double(self)] }

  /// The integer and the decimal that are equal to it.
  fileprivate var formsOfOtherKinds: [Value] {
    (Int64(exactly: self).map { [.int($0)] } ?? [])
      + (RawDecimal(exactly: self).map { [.decimal($0)] } ?? [])
  }
}
