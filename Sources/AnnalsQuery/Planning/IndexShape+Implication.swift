import AnnalsModel
import AnnalsState

// Whether a partial index has every object that a condition may be true of.

extension IndexShape {
  /// Which parts of a condition, all of which must be true, are true of all objects in the index;
  /// nil if it may lack an object of which they are.
  func covered(_ parts: [Condition], of entity: Entity) -> Set<Int>? {
    guard !tests.isEmpty else { return [] }
    var given: [Test] = []
    var covered: Set<Int> = []
    for (number, part) in parts.enumerated() {
      if let path = part.pathOfValue, path.names.count == 1, path.replacement == nil,
        let attribute = entity.attribute(named: path.names[0])
      {
        given.append(entity.indexTest(attribute, .notEqual, .null))
      }
      guard let found = try? part.indexTests() else { continue }
      let bound = found.compactMap { test in
        entity.attribute(named: test.propertyName).map {
          entity.indexTest($0, test.comparison, test.value)
        }
      }
      guard bound.count == found.count else { continue }
      given += bound
      if bound.allSatisfy(tests.contains) { covered.insert(number) }
    }
    return tests.allSatisfy { test in given.contains { $0.implies(test) } } ? covered : nil
  }
}

extension IndexShape.Test {
  /// Whether the other is true wherever this is.
  fileprivate func implies(_ other: IndexShape.Test) -> Bool {
    guard property == other.property else { return false }
    if self == other { return true }
    if other.comparison == .notEqual { return !passes(other.value) }
    if comparison == .equal { return other.passes(value) }
    let outcome = value.compared(with: other.value)
    switch (comparison, other.comparison) {
    case (.lessOrEqual, .less): return outcome == .less
    case (.less, .less), (.less, .lessOrEqual), (.lessOrEqual, .lessOrEqual):
      return outcome == .less || outcome == .equal
    case (.greaterOrEqual, .greater): return outcome == .greater
    case (.greater, .greater), (.greater, .greaterOrEqual), (.greaterOrEqual, .greaterOrEqual):
      return outcome == .greater || outcome == .equal
    default: return false
    }
  }
}
