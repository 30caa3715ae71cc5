import Foundation

/// A part of a Foundation predicate that is a property of the record.
protocol PropertyTerm {
  /// The property of the record type; nil if the type does not list it.
  func property<R: Record>(of type: R.Type) -> PropertyDefinition?
}

/// A part of a Foundation predicate that is the same for every record.
protocol ConstantTerm {
  /// Its value; nil if that is nil.
  var constant: Any? { get }
}

extension PredicateExpressions.KeyPath: PropertyTerm {
  func property<R: Record>(of type: R.Type) -> PropertyDefinition? {
    guard root is PredicateExpressions.Variable<R>,
      let path = keyPath as AnyKeyPath as? PartialKeyPath<R>,
      let position = R.entity.position(of: path)
    else { return nil }
    return R.entity.properties[position]
  }
}

extension PredicateExpressions.Value: ConstantTerm {
  var constant: Any? { value }
}

extension PredicateExpressions.NilLiteral: ConstantTerm {
  var constant: Any? { nil }
}
