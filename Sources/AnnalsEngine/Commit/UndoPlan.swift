import AnnalsModel
import AnnalsState

/// What an undo or a redo would do.
public struct UndoPlan: Sendable {
  /// What would be undone, or redone.
  public let step: UndoStep
  /// How many objects would be deleted, those by delete rules included.
  public private(set) var deletions = 0
  /// How many objects would be updated.
  public private(set) var updates = 0
  /// How many objects would be revived.
  public private(set) var revivals = 0
  /// What others have changed since, and the merge policy resolved; empty without a policy.
  public private(set) var conflicts: [PropertyConflict] = []
  /// Whether it is a redo.
  public let isRedo: Bool

  /// The plan of a filled draft. Throws `.invalidChange` for deletions that a rule denies.
  init(
    _ step: UndoStep, _ direction: UndoDirection, _ draft: inout Draft, _ rules: DeleteRules
  ) throws {
    self.step = step
    isRedo = direction == .redo
    _ = try draft.apply(rules)
    if !draft.violations.isEmpty {
      throw AnnalsError.invalidChange(draft.violations.named(in: draft))
    }
    conflicts = draft.conflicts
    var changes = NetChanges(from: draft.base, to: draft.reader.state)
    var batch = ChangeBatch()
    for object in draft.touched.list where try changes.append(object, to: &batch) {
      switch batch.changes[0].kind {
      case .insert: revivals += 1
      case .update: updates += 1
      case .delete: deletions += 1
      }
      batch.removeAll()
    }
  }
}

extension UndoPlan: CustomStringConvertible {
  /// `undoes transaction 4: 1 deletion, 2 updates, 0 revivals`.
  public var description: String {
    let counts = [(deletions, "deletion"), (updates, "update"), (revivals, "revival")]
    let text = counts.map { "\($0) \($0 == 1 ? $1 : $1 + "s")" }.joined(separator: ", ")
    return "\(isRedo ? "redoes" : "undoes") \(step): \(text)"
  }
}
