import AnnalsModel

/// The condition of an `ANY`, bound to the objects that a to-many relationship leads to. A class,
/// so that the tests of other conditions stay small.
final class TargetTest: Sendable {
  private let entity: EntityNumber
  private let condition: BoundCondition

  /// Binds the condition; throws as `BoundCondition.init` does.
  init(
    _ condition: Condition, of entity: EntityNumber, in state: State, _ sources: ConditionSources
  ) throws(ConditionError) {
    self.entity = entity
    self.condition = try BoundCondition(condition, over: entity, in: state, sources)
  }

  /// Whether an object in the list, as a cell holds it, meets the condition; ids without an object
  /// meet none. O(length) and the tests, until one does.
  func holds(ofAnyIn list: UnsafeRawBufferPointer) throws(ConditionFault) -> Bool {
    if condition.constant == false { return false }
    var block = RowBlock.none
    for offset in stride(from: 0, to: list.count, by: ObjectReference.byteCount) {
      let object = ObjectReference(bytes: list, at: offset)
      guard object.entity == entity else { continue }
      if !block.contains(object.row) { block = condition.block(of: object.row) }
      if try condition.matches(object.row, in: block) { return true }
    }
    return false
  }
}

extension BoundCondition.Test {
  /// Whether the test reads other objects than the one at the end of its path.
  var readsOthers: Bool {
    if case .some = self { true } else { false }
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
  ) throws(ConditionError) {
    guard case .objects(let relationship) = end, relationship.destination != object.entity else {
      return
    }
    func name(_ number: EntityNumber) -> String {
      schema.entity(numbered: number)?.name ?? "entity \(number)"
    }
    throw ConditionError(
      .incomparable, path,
      "\"\(path)\" leads to \(name(relationship.destination)), and row \(object.row) is one of "
        + name(object.entity))
  }
}
