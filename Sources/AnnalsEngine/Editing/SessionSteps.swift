import AnnalsModel
import AnnalsState

/// The steps of a session, on their way to another base.
struct SessionSteps {
  private(set) var undo: [EditStep] = []
  private(set) var redo: [EditStep] = []

  init(undo: [EditStep] = [], redo: [EditStep] = []) {
    (self.undo, self.redo) = (undo, redo)
    // Whatever comes next is a step of its own, and on the new base no rule has been followed yet.
    for index in self.undo.indices {
      self.undo[index].isOpen = false
      self.undo[index].effects = []
    }
    for index in self.redo.indices { self.redo[index].effects = [] }
  }

  /// Whether a step has a large value that lies in the store.
  var haveStoredLargeValues: Bool { (undo + redo).contains(where: \.hasStoredLargeValue) }

  /// Forgets all.
  mutating func clear() { (undo, redo) = ([], []) }

  /// Has the steps name objects by the ids that they have got.
  mutating func move(_ moves: [ObjectReference: ObjectReference]) {
    if moves.isEmpty { return }
    undo = undo.map { $0.moved(moves) }
    redo = redo.map { $0.moved(moves) }
  }

  /// Has the steps lead back to what others have made of a state: what an edit found there as it
  /// was in the old base is as in the new one. Forgets edits of objects that are gone there.
  mutating func rebase(from old: State, to new: State) throws(AnnalsError) {
    for step in undo.indices { try undo[step].rebase(from: old, to: new) }
    for step in redo.indices { try redo[step].rebase(from: old, to: new) }
    // One that others have made impossible ends the chain.
    if let last = undo.lastIndex(where: \.before.changes.isEmpty) { undo.removeSubrange(...last) }
    if let last = redo.lastIndex(where: \.before.changes.isEmpty) { redo.removeSubrange(...last) }
  }
}

extension EditStep {
  fileprivate func moved(_ moves: [ObjectReference: ObjectReference]) -> EditStep {
    var result = self
    result.before = ChangeBatch(asLongAs: before)
    for change in before.changes {
      var values = before.before(of: change)
      for index in values.indices { values[index].value = values[index].value.moved(moves) }
      let object = moves[change.object] ?? change.object
      result.before.append(change.kind, of: object, before: values)
    }
    return result
  }

  fileprivate mutating func rebase(from old: State, to new: State) throws(AnnalsError) {
    before = try AnnalsError.translating { () throws(StateFault) in
      var left = ChangeBatch(asLongAs: before)
      for change in before.changes {
        let object = change.object
        guard try old.contains(object.entity, object.row) else {
          left.append(change, from: before)
          continue
        }
        guard try new.contains(object.entity, object.row) else { continue }
        var values = before.before(of: change)
        for index in values.indices {
          let property = values[index].property
          let (then, now) = (
            try old.value(object.entity, object.row, property),
            try new.value(object.entity, object.row, property)
          )
          values[index].value.rebase(
            from: then, to: now,
            isOrdered: new.schema.entity(numbered: object.entity)?.relationships
              .contains { $0.number == property && $0.isOrdered } ?? false)
        }
        left.append(change.kind, of: object, before: values)
      }
      return left
    }
  }
}

extension Value {
  /// Becomes what others have made of a value, if it was that; of an ordered list, what they have
  /// done to it is done here, too.
  fileprivate mutating func rebase(
    from then: Value, to now: Value, isOrdered: @autoclosure () -> Bool
  ) {
    if self == then { return self = now }
    guard now != then, now.isList, then.isList, isList, isOrdered() else { return }
    let list = ListMerge(
      base: then.targets, own: targets, stored: now.targets, prefersOwn: true
    ).merged
    self = list.isEmpty ? .null : .objects(list)
  }

  /// Whether it may be that of a to-many relationship.
  private var isList: Bool {
    if case .objects = self { return true }
    return isNull
  }
}
