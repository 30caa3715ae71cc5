import AnnalsModel
import AnnalsState

/// The net difference between two states of a store: one change per object, whatever happened in
/// between.
public struct StateDifference: Sendable {
  /// The position of the first state.
  public let from: Token
  /// The position of the second state.
  public let to: Token
  /// The changes that turn the first state into the second, by entity and id. Empty if they are
  /// equal.
  public let changes: [Change]
}

extension StoreVersion {
  /// The net difference between the states after two transactions, in either order. As
  /// `Store.diff`.
  package func difference(
    from first: Int64, to second: Int64
  ) throws(AnnalsError) -> StateDifference {
    var cursor = try DifferenceCursor(self, from: first, to: second)
    var changes: [Change] = []
    while let page = try cursor.next() {
      changes += page.changes
    }
    return StateDifference(
      from: try token(of: first), to: try token(of: second), changes: changes)
  }

  /// Calls `body` with what became of each object in turn, without keeping it. `isWanted` chooses
  /// among the objects that were touched in between.
  ///
  /// An object that was deleted and the one that has its key now are one call, in the place of the
  /// first.
  package func forEachDifference(
    from first: Int64, to second: Int64,
    of isWanted: (ObjectReference) -> Bool = { _ in true },
    _ body: (ObjectDifference) throws -> Void
  ) throws {
    var cursor = try DifferenceCursor(
      self, from: first, to: second, of: isWanted, followsKeys: true)
    let old = reader(of: cursor.old)
    let new = reader(of: cursor.new)
    while let page = try cursor.next() {
      let changes = page.changes
      var place = 0
      while place < changes.count {
        let change = changes[place]
        let hasSuccessor = cursor.hasSuccessor(ObjectReference(change.objectID))
        let successor = hasSuccessor ? changes[place + 1] : nil
        try body(ObjectDifference(change: change, successor: successor, old: old, new: new))
        place += hasSuccessor ? 2 : 1
      }
    }
  }
}

/// What became of one object between two states.
package struct ObjectDifference {
  package let change: Change
  /// If the change is a delete, and another object has the key now: its insert.
  package let successor: Change?
  /// The states before and after. They have the keys and references of all objects, but other
  /// values only of those that are compared.
  package let old: StateReader
  package let new: StateReader
}
