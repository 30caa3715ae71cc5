/// What becomes of an object that a write changes and that others have changed since the state that
/// the write was decided on.
///
/// Both sides have changed the object if it is now, and would be by the write, otherwise than it
/// was in that state; if both made the same of it, there is no conflict. What one side alone has
/// changed never is one: the changes of different objects are all kept, whatever the policy.
///
/// An object that the write inserts with a unique value that another object has got since is a
/// conflict of these two, and becomes one object with that other's id: `.ownWins` gives it what the
/// write has set, `.storedWins` gives it that only where it has no value, `.overwrite` makes it
/// wholly as the write has it, `.rollBack` leaves it as it is. References that the write made lead
/// to it. Where an object that was there before takes such a value, `.storedWins` keeps its value
/// as it is stored and `.rollBack` drops what the write did to it; with the others, and with
/// `.error` in every case, the write fails with `.invalidChange`, since both cannot be.
public enum MergePolicy: String, Hashable, Sendable, CaseIterable {
  /// Nothing is recorded: the write throws `.conflict`, which lists each property in which the two
  /// differ with the value before, the stored one and the write's own. Also if the two have changed
  /// different properties of the object.
  case error
  /// Of the properties that both have changed, the stored values stay; the write's other changes
  /// are kept. What others have deleted stays deleted, and what they have changed is not deleted.
  case storedWins
  /// Of the properties that both have changed, the write's values are recorded; the others' changes
  /// of other properties are kept. What others have deleted is revived under its own id, and what
  /// they have changed is deleted if the write deletes it.
  case ownWins
  /// The object becomes wholly as the write has it: properties that only others have changed become
  /// what they were in the state that the write was decided on. Deletions as in `.ownWins`.
  case overwrite
  /// The object stays wholly as it is stored: what the write did to it is dropped. Deletions as in
  /// `.storedWins`.
  case rollBack

  /// Whether the write's side is kept where the other deleted the object.
  var keepsOwnSide: Bool { self == .ownWins || self == .overwrite }
}
