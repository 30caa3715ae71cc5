import AnnalsModel

/// The condition of an `ANY`, bound to the objects that a to-many relationship or an inverse leads
/// to. A class, so that the tests of other conditions stay small.
final class TargetTest: Sendable {
  private let targets: Targets
  private let condition: BoundCondition

  /// Binds the condition; throws as `BoundCondition.init` does.
  init(
    _ condition: Condition, _ targets: Targets, in state: State, _ sources: ConditionSources
  ) throws(StateFault) {
    self.targets = targets
    self.condition = try BoundCondition(condition, over: targets.entity, in: state, sources)
  }

  /// Whether an object that a cell leads to meets the condition; ids without an object meet none.
  /// O(objects) and the tests, until one does.
  func holds(
    ofAnyAt cell: ValueCell, _ arena: UnsafeRawBufferPointer
  ) throws(StateFault) -> Bool {
    if condition.constant == false { return false }
    var block = RowBlock.none
    return try targets.contains(at: cell, arena) { (row) throws(StateFault) in
      if !block.contains(row) { block = condition.block(of: row) }
      return try condition.matches(row, in: block)
    }
  }
}

extension BoundCondition.Test {
  /// Whether the test reads other objects than the one at the end of its path.
  var readsOthers: Bool {
    switch self {
    case .some, .count: true
    default: false
    }
  }
}

extension ObjectReference {
  /// Whether the list, as a cell holds it, has this. O(length).
  @inline(__always)
  func isListed(in list: UnsafeRawBufferPointer) -> Bool {
    var offset = 0
    while offset + ObjectReference.byteCount <= list.count {
      if ObjectReference(bytes: list, at: offset) == self { return true }
      offset += ObjectReference.byteCount
    }
    return false
  }
}

extension BoundPath {
  /// Throws if the to-many relationship at the end of the path can never list the object, because
  /// of its entity.
  func requireLeading(
    to object: ObjectReference, _ path: PropertyPath, _ schema: Schema
  ) throws(StateFault) {
    guard case .objects(let relationship) = end, relationship.destination != object.entity else {
      return
    }
    func name(_ number: EntityNumber) -> String {
      schema.entity(numbered: number)?.name ?? "entity \(number)"
    }
    throw .query(
      .unsuitable,
      "\"\(path)\" leads to \(name(relationship.destination)), and row \(object.row) is one of "
        + name(object.entity))
  }
}
