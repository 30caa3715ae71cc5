import AnnalsModel

/// A derivation of several objects, bound to a state: gives its value for each row.
///
/// Holds tables of the state: release it before the state is changed in place.
package struct BoundDerivation: Sendable {
  private let function: TargetFunction
  private let view: TableView

  /// Binds a derivation of an entity that the state's schema has; nil for one of the object's own
  /// properties, and if it is impossible. Throws if an index cannot be read.
  package init?(
    _ derivation: Derivation, of entity: Entity, in state: State
  ) throws(StateFault) {
    guard let aggregate = derivation.aggregate, let table = state.table(entity.number),
      let source = state.schema.source(of: derivation, in: entity)
    else { return nil }
    let isOwn = derivation.sourceEntity == 0
    var value = PropertyPath([])
    if aggregate != .count {
      guard let number = derivation.inputs.first?.number,
        let name = source.objects.attribute(numbered: number)?.name
      else { return nil }
      value = PropertyPath([name])
    }
    let (owner, targets) = try Targets.bound(
      source.relationship, of: source.owner.number, isInverse: !isOwn, from: entity.number,
      in: state)
    let name = state.schema.naming(derivation, of: entity).sourceName
    function = try TargetFunction(
      aggregate, of: value, owner, targets, PropertyPath.of(aggregate, value, over: [name]),
      in: state)
    view = table
  }

  /// The value for an object; nil if it does not exist. O(objects that it is a function of); a
  /// count by a reference index O(log n).
  package func value(of row: Int64) throws(StateFault) -> Value? {
    let block = view.block(of: row)
    guard try block.isLive(row), let values = block.view(of: row) else { return nil }
    defer { withExtendedLifetime(block) {} }
    let found = try function.value(of: row, values)
    return found.bytes.withUnsafeBytes { found.cell.value(in: $0) }
  }
}

extension Value {
  /// A text without case and accents, as comparisons with `[cd]` see it; `removingDiacritics` is
  /// asked beyond ASCII alone. O(length).
  package static func normalized(
    _ text: String, removingDiacritics: @escaping @Sendable (String) -> String
  ) -> String {
    let folding = TextFolding(
      options: [.caseInsensitive, .diacriticInsensitive], removingDiacritics: removingDiacritics)
    return String(decoding: folding.folded(text), as: UTF8.self)
  }
}
