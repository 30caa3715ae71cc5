import AnnalsModel
import Foundation

/// A part of a Foundation predicate that can become a condition.
///
/// It becomes one only if exactly the same records meet both. Everything else is evaluated on the
/// record.
protocol PredicatePart {
  /// The equivalent condition; nil if there is none.
  func condition<R: Record>(of type: R.Type) -> RecordCondition<R>?
  /// A condition met by all records that meet the expression, and perhaps by others; nil if none is
  /// known.
  func filter<R: Record>(of type: R.Type) -> RecordCondition<R>?
}

extension PredicatePart {
  func filter<R: Record>(of type: R.Type) -> RecordCondition<R>? { condition(of: type) }
}

/// The equivalent condition of an expression of any type; nil if there is none.
private func sameCondition<R: Record>(as expression: Any, of type: R.Type) -> RecordCondition<R>? {
  (expression as? any PredicatePart)?.condition(of: type)
}

extension PredicateExpressions.Conjunction: PredicatePart {
  func condition<R: Record>(of type: R.Type) -> RecordCondition<R>? {
    guard let left = sameCondition(as: lhs, of: type), let right = sameCondition(as: rhs, of: type)
    else { return nil }
    return left && right
  }

  func filter<R: Record>(of type: R.Type) -> RecordCondition<R>? {
    let left = (lhs as? any PredicatePart)?.filter(of: type)
    let right = (rhs as? any PredicatePart)?.filter(of: type)
    return left?.and(right) ?? right
  }
}

extension PredicateExpressions.Disjunction: PredicatePart {
  func condition<R: Record>(of type: R.Type) -> RecordCondition<R>? {
    guard let left = sameCondition(as: lhs, of: type), let right = sameCondition(as: rhs, of: type)
    else { return nil }
    return left || right
  }

  func filter<R: Record>(of type: R.Type) -> RecordCondition<R>? {
    guard let left = (lhs as? any PredicatePart)?.filter(of: type),
      let right = (rhs as? any PredicatePart)?.filter(of: type)
    else { return nil }
    return left || right
  }
}

extension PredicateExpressions.Negation: PredicatePart {
  func condition<R: Record>(of type: R.Type) -> RecordCondition<R>? {
    sameCondition(as: wrapped, of: type).map { !$0 }
  }
}

extension PredicateExpressions.Equal: PredicatePart {
  func condition<R: Record>(of type: R.Type) -> RecordCondition<R>? {
    ComparedProperty(lhs, rhs, of: type)?.isEqual
  }
}

extension PredicateExpressions.NotEqual: PredicatePart {
  func condition<R: Record>(of type: R.Type) -> RecordCondition<R>? {
    (ComparedProperty(lhs, rhs, of: type)?.isEqual).map { !$0 }
  }
}

extension PredicateExpressions.Comparison: PredicatePart {
  func condition<R: Record>(of type: R.Type) -> RecordCondition<R>? {
    let comparison: Condition.Comparison? =
      switch op {
      case .lessThan: .less
      case .lessThanOrEqual: .lessOrEqual
      case .greaterThan: .greater
      case .greaterThanOrEqual: .greaterOrEqual
      @unknown default: nil
      }
    guard let comparison, let compared = ComparedProperty(lhs, rhs, of: type) else { return nil }
    return compared.compares(comparison)
  }
}

extension PredicateExpressions.SequenceContains: PredicatePart {
  func condition<R: Record>(of type: R.Type) -> RecordCondition<R>? {
    if let members = (sequence as? any PropertyTerm)?.property(of: type) {
      guard members.relationship?.isToMany == true,
        let object = (element as? any ConstantTerm)?.constant as? any RelationshipValue,
        let id = object._objects.first
      else { return nil }
      return RecordCondition(
        .contains(PropertyPath(members.name), ObjectReference(id)), stores: [id.store])
    }
    guard let list = (sequence as? any ConstantTerm)?.constant as? any Sequence,
      let property = (element as? any PropertyTerm)?.property(of: type)
    else { return nil }
    var parts: [RecordCondition<R>] = []
    for value in list {
      guard let part = ComparedProperty<R>(property, value).isEqual else { return nil }
      parts.append(part)
    }
    return RecordCondition(.any(parts.map(\.condition)))
  }
}

extension PredicateExpressions.KeyPath: PredicatePart {
  /// A Bool property is a condition by itself.
  func condition<R: Record>(of type: R.Type) -> RecordCondition<R>? {
    guard Output.self == Bool.self, let property = property(of: type) else { return nil }
    return ComparedProperty<R>(property, true).isEqual
  }
}

extension PredicateExpressions.Value: PredicatePart {
  func condition<R: Record>(of type: R.Type) -> RecordCondition<R>? {
    (value as? Bool).map { $0 ? .always : .never }
  }
}
