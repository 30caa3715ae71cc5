import AnnalsModel
import AnnalsState

// Violations are found where an object is known by its row alone, or where its key is yet to come.
// The names that people know are put in once, when the transaction is refused.

extension [ValidationViolation] {
  /// With the names of the objects that they speak of, as far as they have keys: as the transaction
  /// leaves them, or had found them.
  func named(in transaction: WriteTransaction) -> [ValidationViolation] {
    map { violation in
      var named = violation
      if named.key == nil { named.key = violation.object.flatMap { transaction.keyText(of: $0) } }
      named.other = violation.otherObject.map { other in
        let key = transaction.keyText(of: other)
        let tellsThemApart = key != named.key || other.entity != violation.object?.entity
        return transaction.schema.nameText(of: other, key: tellsThemApart ? key : nil)
      }
      return named
    }
  }
}

extension ValidationViolation {
  /// The object that the rule or the value speaks of, besides the one with the value.
  fileprivate var otherObject: ObjectReference? {
    switch rule {
    case .unique(let other), .existing(let other): return other
    case .destination:
      guard case .object(let other) = value else { return nil }
      return other
    default: return nil
    }
  }
}

extension WriteTransaction {
  /// The object's key as text; nil if it has none, or was never there.
  fileprivate func keyText(of object: ObjectReference) -> String? {
    reader.state.keyText(of: object) ?? base.keyText(of: object)
  }

  /// `Entity/KEY` or `Entity#ROW`, for messages.
  package func nameText(of object: ObjectReference) -> String {
    schema.nameText(of: object, key: keyText(of: object))
  }
}

extension State {
  /// The object's key as text; nil if it has none, is not there, or cannot be read.
  package func keyText(of object: ObjectReference) -> String? {
    guard let entity = schema.entity(numbered: object.entity), let attribute = entity.keyAttribute,
      (try? contains(object.entity, object.row)) == true,
      let stored = try? value(object.entity, object.row, attribute.number)
    else { return nil }
    if stored.isNull, !attribute.isOptional { return attribute.defaultValue?.keyText }
    return stored.keyText
  }
}

extension Schema {
  /// `Entity/KEY` or `Entity#ROW`.
  package func nameText(of object: ObjectReference, key: String?) -> String {
    let name = entity(numbered: object.entity)?.name ?? "#\(object.entity)"
    return key.map { "\(name)/\($0)" } ?? "\(name)#\(object.row)"
  }
}
