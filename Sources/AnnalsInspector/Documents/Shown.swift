// What documents are made of. Missing values are left out of the JSON. API.md in Tools/Inspector
// describes each member.

/// A place in history.
package struct ShownMoment: Codable, Sendable, Hashable {
  package var number: Int64
  package var timestamp: String?
  package var us: Int64?
  package var author: String?
  package var context: String?
  package var message: String?
  package var head: Int64
  package var base: Int64

  /// A place of this number, of which nothing else is said.
  package init(number: Int64, head: Int64, base: Int64) {
    (self.number, self.head, self.base) = (number, head, base)
  }
}

/// A transaction without its changes.
package struct ShownHeader: Codable, Sendable, Hashable {
  package var number: Int64
  package var timestamp: ShownTime
  package var us: Int64
  package var author: String?
  package var context: String?
  package var process: String?
  package var pid: Int64?
  package var message: String?
  package var group: String?
  package var undoes: [Int64]?
  package var redoes: Int64?
  package var migrations: [String]?
  package var lost: String?
  package var lostReason: String?
  package var loss: ShownLoss?
  package var schema: [String]?
  package var erased: [String]?
  package var erasedBecause: String?
  package var changes: Int
}

/// What is known of lost transactions, other than their numbers.
package struct ShownLoss: Codable, Sendable, Hashable {
  /// Their times lie between these.
  package var afterUs: Int64?
  package var beforeUs: Int64?
  package var salvagedUs: Int64
  /// Whether the changes make up for them exactly.
  package var isExact: Bool
}

/// A change of one object.
package struct ShownChange: Codable, Sendable, Hashable {
  /// `insert`, `update` or `delete`; in a difference also `replace`, of an object that was deleted
  /// while another one was inserted under the same key.
  package var kind: String
  package var object: ShownObject
  package var label: String?
  package var properties: [ShownDifference]
  /// How many properties are left out.
  package var more: Int?
}

/// A property of a change.
package struct ShownDifference: Codable, Sendable, Hashable {
  package var property: String
  package var before: ShownValue?
  package var after: ShownValue?
  /// Of two texts that are shown from where they begin to differ: how many bytes both lack in
  /// front, the line of the later one, from 1, and whether what they lack behind is the same.
  package var start: Int?
  package var line: Int?
  package var isWhole: Bool?
  /// The places behind at which they differ, too, and how many more there are.
  package var places: [ShownPlace]?
  package var morePlaces: Int?
  package var edits: ShownEdits?
  /// Whether it is the object's key.
  package var isKey: Bool?
  /// Whether it is the display attribute.
  package var isDisplay: Bool?
}

/// A place at which two long texts differ.
package struct ShownPlace: Codable, Sendable, Hashable {
  /// The line of the later one at which it begins, from 1.
  package var line: Int
  package var before: String
  package var after: String
  /// Whether all that differs there is shown.
  package var isWhole: Bool
}

extension ShownDifference {
  /// The places at which two long texts differ, the first included; empty for other values.
  package var allPlaces: [ShownPlace] {
    guard let line else { return [] }
    let first = ShownPlace(
      line: line, before: before?.text ?? "", after: after?.text ?? "", isWhole: isWhole ?? true)
    return [first] + (places ?? [])
  }
}

/// What an update did to a list of objects.
package struct ShownEdits: Codable, Sendable, Hashable {
  package struct Edit: Codable, Sendable, Hashable {
    package var position: Int
    package var object: ShownObject
  }

  package struct Move: Codable, Sendable, Hashable {
    package var from: Int
    package var to: Int
    package var object: ShownObject
  }

  package var removed: [Edit]
  package var inserted: [Edit]
  package var moved: [Move]
  package var more: Int
}
