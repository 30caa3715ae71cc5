/// How a write is merged with an object that others have changed since the state that the write is
/// based on.
///
/// Two changes of an object conflict if both the stored object and the write's object differ from
/// the base, and from each other. Changes to different objects never conflict: all of them are
/// kept, whatever the policy.
///
/// `.storedWins` and `.ownWins` merge an ordered to-many that both sides changed reference by
/// reference, and so does a save of an editing context without a policy: a conflict is only a
/// reference that both have moved, to different places; the policy decides where it is.
///
/// A conflict also arises if the write inserts an object with a unique value that another object
/// has got since. The two become one object under the stored one's id: `.ownWins` sets what the
/// write has set, `.storedWins` sets that only where the stored object has no value, `.overwrite`
/// replaces the stored object by the write's, `.rollBack` leaves it unchanged. References that the
/// write made to the inserted object lead to the stored one; the id that the insert returned is
/// that of no object, and `Commit.mergedObjects` has the stored one for it. If the write gives such
/// a value to an object that existed before, `.storedWins` keeps that object's stored value and
/// `.rollBack` drops the write's changes of it. With the other policies, and with `.error` in every
/// case, the write fails with `.invalidChange`, since both cannot have the value.
public enum MergePolicy: String, Hashable, Sendable, CaseIterable {
  /// Records nothing and throws `.conflict`, which lists each differing property with its base,
  /// stored and own value. Also conflicts: the two sides changed different properties of one
  /// object.
  case error
  /// Keeps the stored values of properties that both sides changed, and the write's other changes.
  /// An object that others deleted stays deleted; an object that others changed is not deleted.
  case storedWins
  /// Records the write's values of properties that both sides changed, and keeps the others'
  /// changes of other properties. An object that others deleted is revived under its own id; an
  /// object that others changed is deleted if the write deletes it.
  case ownWins
  /// Makes the whole object as the write has it: properties that only others changed return to
  /// their value in the base. Deletions as in `.ownWins`.
  case overwrite
  /// Keeps the whole object as it is stored, and drops the write's changes of it. Deletions as in
  /// `.storedWins`.
  case rollBack

  /// Whether the write's side is kept when the other side deleted the object.
  var keepsOwnSide: Bool { self == .ownWins || self == .overwrite }
}
