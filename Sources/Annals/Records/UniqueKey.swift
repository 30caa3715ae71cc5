import AnnalsEngine
import AnnalsModel

/// A unique key: the values of all properties of one uniqueness rule.
package struct UniqueKey: Sendable {
  /// The number of the attribute or index that states the rule.
  package let rule: PropertyNumber
  /// The values, in the order of the rule's properties, their bytes in `arena`.
  package let cells: [ValueCell]
  package let arena: ContiguousArray<UInt8>

  /// Whether a value is null, so that no object has the key.
  package var isNull: Bool { cells.contains { $0.isNull } }
}

extension RecordBinding {
  /// The key of the object whose property has this value.
  ///
  /// Throws `.invalidArgument` if the store has no uniqueness rule for this property alone.
  package func uniqueKey<V: AttributeValue>(
    _ keyPath: KeyPath<R, V>, is value: V
  ) throws(AnnalsError) -> UniqueKey {
    try uniqueKey([keyPath], [Value.whole(value)])
  }

  /// The key of the object whose two properties have these values, in the order of the rule for
  /// both.
  package func uniqueKey<V: AttributeValue, W: AttributeValue>(
    _ first: KeyPath<R, V>, is firstValue: V, _ second: KeyPath<R, W>, is secondValue: W
  ) throws(AnnalsError) -> UniqueKey {
    try uniqueKey([first, second], [Value.whole(firstValue), Value.whole(secondValue)])
  }

  private func uniqueKey(
    _ keyPaths: [PartialKeyPath<R>], _ values: [Value]
  ) throws(AnnalsError) -> UniqueKey {
    let positions = keyPaths.map { position(of: $0) }
    let properties = positions.map { layout.columns[$0].property }
    guard let rule = layout.uniqueRules.first(where: { $0.properties == properties }) else {
      let names = positions.map { layout.names[$0] }.joined(separator: ", ")
      throw AnnalsError(
        .invalidArgument,
        "\(record.name).\(names) is not unique in the store; state it with .unique()")
    }
    var arena: ContiguousArray<UInt8> = []
    let cells = zip(positions, values).map { position, value in
      let column = layout.columns[position]
      var single = value
      // Relationships come as lists, and JSON as text.
      if column.isRelationship, case .objects(let list) = value {
        single = list.first.map { .object($0) } ?? .null
      } else if column.tag == .json, case .string(let text) = value {
        single = .json(text)
      }
      return ValueCell(single, appendingTo: &arena)
    }
    return UniqueKey(rule: rule.number, cells: cells, arena: arena)
  }
}
