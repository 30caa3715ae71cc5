import AnnalsLog
import AnnalsModel
import AnnalsState

/// A draft that a program keeps open, with the steps that led to it: what an editing context is, by
/// numbers.
///
/// Holds no lock and no descriptor of its own: the state that it is based on stays readable,
/// whatever others write, prune or rewrite. Used by one thread at a time, so exclusivity is not
/// checked where each property that is set would pay for it.
package final class EditSession {
  /// Reads the pending state, and fills the draft.
  @exclusivity(unchecked) package private(set) var transaction: WriteTransaction
  /// The version that the draft is based on.
  package internal(set) var version: StoreVersion
  /// The steps that can be undone, the newest last.
  package private(set) var undoSteps: [EditStep] = []
  /// The steps that can be redone, the next last.
  package private(set) var redoSteps: [EditStep] = []
  /// Rises with each change of what is pending.
  package private(set) var revision = 0
  /// The session that this one saves into; nil for one that saves into the store.
  package let parent: EditSession?
  /// The parent's revision that the draft is based on.
  var parentRevision = 0
  let largeValues: HeldLargeValues
  private(set) var rules: CommitRules
  /// Whether the closure of an edit is running, which has a draft of its own.
  private var isEditing = false
  /// Whether what is pending is being committed by somebody else, until which nothing is edited.
  package internal(set) var isSaving = false {
    didSet { if isSaving != oldValue { didChange?({ [] }) } }
  }
  /// The step that collects the edits of `group`.
  @exclusivity(unchecked) private var collected: EditStep?
  /// Called after each change with the objects that may have changed, besides those that others
  /// have written where the session goes on with another version.
  package var didChange: ((_ objects: () -> [ObjectReference]) -> Void)?

  /// A session on a version of the store, without pending changes. O(schema).
  package init(on version: StoreVersion, _ origin: TransactionOrigin) {
    self.version = version
    largeValues = HeldLargeValues(stored: LogLargeValues(version.view))
    transaction = WriteTransaction(version.makeDraft(origin, largeValues))
    rules = CommitRules(version.state.schema)
    parent = nil
  }

  /// A session on the pending state of another one, which it saves into. O(schema).
  package init(in parent: EditSession) {
    version = parent.version
    largeValues = parent.largeValues
    transaction = WriteTransaction(parent.draft.nested())
    rules = parent.rules
    self.parent = parent
    parentRevision = parent.revision
  }

  /// What is pending.
  var draft: Draft {
    _read { yield transaction.content }
    _modify { yield &transaction.content }
  }

  /// Whether the parent has changed since the draft began.
  var isBehindParent: Bool { parent.map { $0.revision != parentRevision } ?? false }

  // MARK: Editing

  /// Runs a closure on what is pending, as one step; if it throws, nothing is changed.
  ///
  /// Throws `.invalidArgument` if the closure changes the schema, and what it throws.
  package func edit<R>(_ name: String, _ body: (WriteTransaction) throws -> R) throws -> R {
    try requireOutside(allowsGroup: true)
    isEditing = true
    defer { isEditing = false }
    let nested = WriteTransaction(draft.nested())
    var result: R?
    try nested.run { result = try body($0) }
    guard nested.content.changedEntities.isEmpty else {
      throw AnnalsError(
        .invalidArgument,
        "an editing context cannot change the schema; change it in a write of its own")
    }
    try adopt(&nested.content, as: name)
    guard let result else { preconditionFailure("a closure returned without a result") }
    return result
  }

  /// Whether something that changes what is pending is called within the closure of an edit, or,
  /// if that is not allowed, of a group.
  package func isWithinEdit(allowsGroup: Bool) -> Bool {
    isEditing || !allowsGroup && collected != nil
  }

  /// Throws `.nestedWrite` within the closure of an edit, or of a group, and while it is saved.
  func requireOutside(allowsGroup: Bool = false) throws(AnnalsError) {
    if isSaving {
      throw AnnalsError(
        .nestedWrite,
        "the context is being saved; what it edits meanwhile would be lost. Edit it once `save` "
          + "has returned")
    }
    guard isWithinEdit(allowsGroup: allowsGroup) else { return }
    throw AnnalsError(
      .nestedWrite,
      "the context is changed inside the closure of an edit. Use the transaction that the closure "
        + "is given; save, undo and refresh after it")
  }

  /// Adopts a draft on what is pending, as one step.
  func adopt(_ nested: inout Draft, as name: String) throws(AnnalsError) {
    try nested.follow(rules.deletes)
    let before = try nested.netChanges(hasAfter: false)
    let violations = draft.violations
    draft.adopt(nested)
    push(
      EditStep(
        name: name, before: before, violations: violations, effects: nested.ruleEffects[...]))
  }

  /// Runs a closure that inserts one object into what is pending, as one step.
  package func insert<R>(
    _ name: String, _ body: (WriteTransaction) throws(AnnalsError) -> (R, ObjectReference)
  ) throws(AnnalsError) -> R {
    try requireOutside(allowsGroup: true)
    let violations = draft.violations
    let (result, object) = try body(transaction)
    var step = EditStep(name: name, violations: violations)
    step.before.append(.insert, of: object)
    push(step)
    return result
  }

  /// Runs a closure that sets properties of one object, as one step; consecutive ones of one
  /// property are one step together.
  package func set(
    _ properties: [PropertyNumber], of object: ObjectReference, _ name: @autoclosure () -> String,
    _ body: (WriteTransaction) throws -> Void
  ) throws {
    try requireOutside(allowsGroup: true)
    let (before, violations) = try draft.beginSetting(properties, of: object)
    do { try body(transaction) } catch {
      draft.violations = violations
      throw error
    }
    if collected != nil {
      collected?.before.append(.update, of: object, before: before)
    } else if undoSteps.last?.isContinued(bySetting: properties, of: object) ?? false {
      redoSteps = []
    } else {
      var step = EditStep(name: name(), violations: violations, isOpen: true)
      step.before.append(.update, of: object, before: before)
      append(step)
    }
    changed([object])
  }

  /// Joins the edits of a closure to one step; if it throws, they are taken back.
  package func group<R>(_ name: String, _ body: () throws -> R) throws -> R {
    try requireOutside(allowsGroup: true)
    guard collected == nil else { return try body() }
    let before = draft
    collected = EditStep(name: name, violations: before.violations)
    do {
      let result = try body()
      if let step = collected.take(), isChange(step) {
        append(step)
        // Each edit has told its objects.
        changed([])
      }
      return result
    } catch {
      let objects = collected.take()?.objects ?? []
      draft = before
      changed(objects)
      throw error
    }
  }

  private func push(_ step: EditStep) {
    if collected != nil {
      collected?.before.append(changesOf: step.before)
      collected?.effects += step.effects
    } else {
      guard isChange(step) else { return }
      append(step)
    }
    changed(step.objects)
  }

  /// Whether a step that has been made changed anything.
  private func isChange(_ step: EditStep) -> Bool {
    !step.before.changes.isEmpty || step.violations.count != draft.violations.count
  }

  private func append(_ step: EditStep) {
    redoSteps = []
    undoSteps.append(step)
  }

  private func changed(_ objects: @autoclosure () -> [ObjectReference]) {
    revision += 1
    didChange?(objects)
  }

  // MARK: Undo

  /// Takes the last step back. Returns false if there is none; nothing is changed if it throws.
  package func undo() throws(AnnalsError) -> Bool {
    try requireOutside()
    guard let step = undoSteps.last else { return false }
    let inverse = try apply(step)
    draft.ruleEffects.removeLast(min(step.effects.count, draft.ruleEffects.count))
    undoSteps.removeLast()
    if !undoSteps.isEmpty { undoSteps[undoSteps.count - 1].isOpen = false }
    redoSteps.append(inverse)
    changed(step.objects)
    return true
  }

  /// Takes a step back, or forth; returns the one that leads back. Nothing is changed if it throws.
  private func apply(_ step: EditStep) throws(AnnalsError) -> EditStep {
    var changed = draft
    var inverse = try changed.apply(step, rules.deletes, mayReturn: stepsHave)
    inverse.effects = step.effects
    draft = changed
    return inverse
  }

  /// Whether a step has an edit of an object, and so may bring it back.
  private func stepsHave(_ object: ObjectReference) -> Bool {
    (undoSteps + redoSteps).contains { $0.before.changes.contains { $0.object == object } }
  }

  /// Repeats the step that was undone last. Returns false if there is none; nothing is changed if
  /// it throws.
  package func redo() throws(AnnalsError) -> Bool {
    try requireOutside()
    guard let step = redoSteps.last else { return false }
    let inverse = try apply(step)
    draft.ruleEffects += step.effects
    redoSteps.removeLast()
    undoSteps.append(inverse)
    changed(step.objects)
    return true
  }

  /// Goes on with another draft and other steps.
  func restart(_ version: StoreVersion, _ draft: Draft, _ steps: SessionSteps) {
    if version.state.schema != self.version.state.schema {
      rules = CommitRules(version.state.schema)
    }
    let touched = Array(self.draft.touched.list) + draft.touched.list
    self.version = version
    transaction = WriteTransaction(draft)
    (undoSteps, redoSteps) = (steps.undo, steps.redo)
    changed(touched)
  }
}
