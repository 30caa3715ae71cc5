import AnnalsFormat
import AnnalsModel

/// What an index is over: its columns in order, the direction of each, whether keys are unique, and
/// what the objects in it have in common. The others have no key.
package struct IndexShape: Hashable, Sendable {
  /// One column of the key.
  package struct Column: Hashable, Sendable {
    package var property: PropertyNumber
    /// Whether greater values come first.
    package var isDescending: Bool
    /// Whether objects without a value come before all others.
    package var nullsFirst: Bool
    /// What an object without a value counts as: the default of a required attribute.
    package var valueForNull: Value?
  }

  /// What is true of an object in a partial index.
  package struct Test: Hashable, Sendable {
    package var property: PropertyNumber
    package var comparison: Condition.Comparison
    package var value: Value
    /// What an object without a value counts as: the default of a required attribute.
    package var valueForNull: Value?
  }

  /// The number of the attribute or of the index description.
  package var number: PropertyNumber
  package var columns: [Column]
  /// Whether no two objects have the same key. Objects without a value in some column then have no
  /// key.
  package var isUnique: Bool
  /// What its keys say.
  package var kind = IndexKind.ordered
  /// All are true of the objects in the index; none for an index of all objects.
  package var tests: [Test] = []
}

extension Entity {
  /// The indexes that order the objects: of the unique attributes, and those described.
  package var indexShapes: [IndexShape] {
    var result: [IndexShape] = []
    for attribute in attributes where attribute.isUnique && !attribute.isRemoved {
      let column = IndexShape.Column(
        property: attribute.number, isDescending: false, nullsFirst: true)
      result.append(IndexShape(number: attribute.number, columns: [column], isUnique: true))
    }
    for index in indexes where index.isKnown {
      let columns = index.elements.map { element in
        IndexShape.Column(
          property: element.property, isDescending: element.isDescending,
          nullsFirst: element.nullsFirst,
          valueForNull: index.isUnique ? nil : valueForNull(of: element.property))
      }
      let tests = index.tests.map { test in
        IndexShape.Test(
          property: test.property, comparison: test.comparison, value: test.value,
          valueForNull: valueForNull(of: test.property))
      }
      result.append(
        IndexShape(
          number: index.number, columns: columns, isUnique: index.isUnique, kind: index.kind,
          tests: tests))
    }
    return result
  }

  /// The indexes of who refers to an object, for the relationships that need one: under the
  /// relationship's own number.
  package var referenceShapes: [IndexShape] {
    relationships.filter(\.isIndexed).map { relationship in
      let column = IndexShape.Column(
        property: relationship.number, isDescending: false, nullsFirst: true)
      return IndexShape(
        number: relationship.number, columns: [column], isUnique: false, kind: .references)
    }
  }

  /// All indexes that tables of this entity keep.
  package var keptShapes: [IndexShape] { indexShapes + referenceShapes }

  /// A comparison of an attribute as indexes make it.
  package func indexTest(
    _ attribute: Attribute, _ comparison: Condition.Comparison, _ value: Value
  ) -> IndexShape.Test {
    IndexShape.Test(
      property: attribute.number, comparison: comparison, value: value,
      valueForNull: valueForNull(of: attribute.number))
  }

  private func valueForNull(of property: PropertyNumber) -> Value? {
    guard let attribute = attributes.first(where: { $0.number == property }),
      !attribute.isOptional, let value = attribute.defaultValue, !value.isNull
    else { return nil }
    return value
  }
}

extension IndexShape {
  /// What entries hold of their keys.
  var form: IndexForm { isUnique ? .beginnings : .whole }
}
