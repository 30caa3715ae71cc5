/// One comparison that all objects in a partial index meet.
package struct IndexTest: Hashable, Sendable {
  /// The name of the attribute; empty once the number is known.
  package var propertyName: String
  /// The number of the attribute; 0 until a store assigns it.
  package var property: PropertyNumber = 0
  package var comparison: Condition.Comparison
  /// The value to compare with; nil only for `equal` and `notEqual`.
  package var value: Value

  package init(_ propertyName: String, _ comparison: Condition.Comparison, _ value: Value) {
    self.propertyName = propertyName
    self.comparison = comparison
    self.value = value
  }

  /// A condition that no index can have.
  package struct Misfit: Error {
    package let reason: String

    /// A condition on what a to-many relationship leads to.
    fileprivate static func membership(_ path: PropertyPath) -> Misfit {
      Misfit(
        reason: "an index compares attributes of the object itself, and \(path) is asked for its "
          + "objects")
    }
  }
}

extension IndexTest {
  /// The most bytes of a value to compare with, so that a column's description of a large value
  /// decides the comparison.
  package static let longestValue = 256

  /// What makes the value invalid, apart from the attribute; nil if nothing does.
  package var problem: String? {
    switch value {
    case .null:
      return comparison.isOrder ? "nothing is less or greater than nil" : nil
    case .double(let number) where !number.isFinite: return "\(number) is no value"
    case .bool, .int, .double, .date, .uuid, .decimal, .day: return nil
    case .string(let text), .url(let text), .json(let text):
      return problem(withLength: text.utf8.count)
    case .data(let bytes): return problem(withLength: bytes.count)
    case .object, .objects, .large: return "it compares with an object"
    case .erased: return "nothing compares with what was erased"
    }
  }

  private func problem(withLength length: Int) -> String? {
    if comparison.isOrder { return "texts and data are compared by == and != only" }
    return length > IndexTest.longestValue
      ? "a value has more than \(IndexTest.longestValue) bytes" : nil
  }
}

extension AttributeType {
  /// Whether a value of the type may equal this one, or be less or greater.
  package func isComparable(with value: Value) -> Bool {
    if value.isErased { return false }
    guard let tag, !value.isNull else { return value.tag != .objects }
    let numbers: [ValueTag] = [.int, .double, .decimal]
    return tag == value.tag || numbers.contains(tag) && numbers.contains(value.tag)
  }
}

extension Condition {
  /// The equivalent list of comparisons. Throws if there is none.
  package func indexTests() throws(IndexTest.Misfit) -> [IndexTest] {
    switch form {
    case .constant(true): return []
    case .all(let parts):
      var tests: [IndexTest] = []
      for part in parts { tests += try part.indexTests() }
      return tests
    case .isNil(let path): return [try test(path, .equal, .null)]
    case .comparison(let path, let comparison, let value):
      return [try test(path, comparison, value)]
    case .isBetween(let path, let low, let high):
      return [try test(path, .greaterOrEqual, low), try test(path, .lessOrEqual, high)]
    case .not(let part): return [try opposite(of: part)]
    case .contains(let path, _), .some(let path, _), .count(let path, _, _):
      throw .membership(path)
    case .constant(false), .isIn, .text, .any:
      throw IndexTest.Misfit(reason: "an index is of objects told by comparisons joined by AND")
    }
  }

  private func opposite(of part: Condition) throws(IndexTest.Misfit) -> IndexTest {
    switch part.form {
    case .isNil(let path): return try test(path, .notEqual, .null)
    case .comparison(let path, .equal, let value): return try test(path, .notEqual, value)
    case .comparison(let path, .notEqual, let value): return try test(path, .equal, value)
    case .contains(let path, _), .some(let path, _), .count(let path, _, _):
      throw .membership(path)
    default:
      // Of nil neither an order nor its opposite by another operator is true.
      throw IndexTest.Misfit(reason: "an index is of objects told by comparisons joined by AND")
    }
  }

  private func test(
    _ path: PropertyPath, _ comparison: Comparison, _ value: Value
  ) throws(IndexTest.Misfit) -> IndexTest {
    guard path.names.count == 1 else {
      throw IndexTest.Misfit(reason: "\(path) is no attribute of the object itself")
    }
    guard path.replacement == nil else {
      throw IndexTest.Misfit(reason: "\(path) is not read as stored")
    }
    let test = IndexTest(path.names[0], comparison, value)
    if let problem = test.problem { throw IndexTest.Misfit(reason: problem) }
    return test
  }
}

extension Entity {
  /// The comparisons of a partial index as a condition, with the present names of attributes; nil
  /// for an index of all objects.
  package func condition(of index: IndexDescription) -> Condition? {
    guard !index.tests.isEmpty else { return nil }
    return .all(
      index.tests.map { test in
        let name = test.property == 0 ? nil : propertyName(test.property)
        return .compare(PropertyPath([name ?? test.propertyName]), test.comparison, test.value)
      })
  }

  /// The name of the attribute that a test is of.
  package func propertyName(of test: IndexTest) -> String {
    test.property == 0 ? test.propertyName : propertyName(test.property) ?? test.propertyName
  }
}
