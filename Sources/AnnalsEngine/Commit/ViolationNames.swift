import AnnalsModel
import AnnalsState

// Names objects in violations. A check knows an object by its row alone, or before its key is set;
// the names that people know are filled in once, when the transaction is refused.

extension [ValidationViolation] {
  /// The violations with the names of their objects, if they have keys: as the draft leaves
  /// them, or as they were before it.
  func named(in draft: Draft) -> [ValidationViolation] {
    map { violation in
      var named = violation
      if named.key == nil { named.key = violation.object.flatMap { draft.keyText(of: $0) } }
      guard let other = violation.otherObject else { return named }
      var key = draft.keyText(of: other)
      if let object = violation.object, key == named.key, other.entity == object.entity {
        // One that was given the key of the other is named by the key that it had.
        if let former = draft.base.keyText(of: object), former != key {
          named.key = former
        } else {
          key = nil
        }
      }
      named.other = draft.schema.nameText(of: other, key: key)
      return named
    }
  }
}

extension ValidationViolation {
  /// The other object that the rule or the value refers to.
  fileprivate var otherObject: ObjectReference? {
    switch rule {
    case .unique(let other), .existing(let other), .noReference(let other): return other
    case .destination:
      guard case .object(let other) = value else { return nil }
      return other
    default: return nil
    }
  }
}

extension Draft {
  /// The object's key as text; nil if it has none or never existed.
  fileprivate func keyText(of object: ObjectReference) -> String? {
    reader.state.keyText(of: object) ?? base.keyText(of: object)
  }

  /// `Entity/KEY` or `Entity#ROW`, for messages.
  package func nameText(of object: ObjectReference) -> String {
    schema.nameText(of: object, key: keyText(of: object))
  }
}
