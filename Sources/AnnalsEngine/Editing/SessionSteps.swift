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
    if let last = undo.lastIndex(where: \.edits.isEmpty) { undo.removeSubrange(...last) }
    if let last = redo.lastIndex(where: \.edits.isEmpty) { redo.removeSubrange(...last) }
  }
}

extension EditStep {
  fileprivate func moved(_ moves: [ObjectReference: ObjectReference]) -> EditStep {
    func moved(_ values: [StoredValue]) -> [StoredValue] {
      values.map { StoredValue(property: $0.property, value: $0.value.moved(moves)) }
    }
    var result = self
    result.edits = edits.map { edit in
      var before = edit.before
      switch edit.before {
      case .nothing: break
      case .object(let values): before = .object(moved(values))
      case .values(let values): before = .values(moved(values))
      }
      return ObjectEdit(object: moves[edit.object] ?? edit.object, before: before)
    }
    return result
  }

  fileprivate mutating func rebase(from old: State, to new: State) throws(AnnalsError) {
    func holds(_ object: ObjectReference, _ state: State) throws(AnnalsError) -> Bool {
      try AnnalsError.translating { try state.contains(object.entity, object.row) }
    }
    var left: [ObjectEdit] = []
    for edit in edits {
      let wasThere = try holds(edit.object, old)
      let isThere = try holds(edit.object, new)
      if wasThere, !isThere { continue }
      guard wasThere else {
        left.append(edit)
        continue
      }
      func rebased(_ values: [StoredValue]) throws(AnnalsError) -> [StoredValue] {
        var result = values
        for index in result.indices {
          let (entity, row) = (edit.object.entity, edit.object.row)
          let property = result[index].property
          let (before, now) = try AnnalsError.translating {
            (try old.value(entity, row, property), try new.value(entity, row, property))
          }
          if result[index].value == before {
            result[index].value = now
          } else if now != before, now.isList, before.isList, result[index].value.isList,
            new.schema.entity(numbered: entity)?.relationships
              .contains(where: { $0.number == property && $0.isOrdered }) == true
          {
            // What others have done to the list stays, whatever is taken back.
            let list = ListMerge(
              base: before.targets, own: result[index].value.targets, stored: now.targets,
              prefersOwn: true
            ).merged
            result[index].value = list.isEmpty ? .null : .objects(list)
          }
        }
        return result
      }
      var edit = edit
      switch edit.before {
      case .nothing: break
      case .object(let values): edit.before = .object(try rebased(values))
      case .values(let values): edit.before = .values(try rebased(values))
      }
      left.append(edit)
    }
    edits = left
  }
}

extension Value {
  /// Whether it may be that of a to-many relationship.
  fileprivate var isList: Bool {
    if case .objects = self { return true }
    return isNull
  }
}
