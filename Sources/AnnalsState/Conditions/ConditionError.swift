import AnnalsModel

/// Why a condition or a sort key does not fit an entity.
package struct ConditionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What kind of reason this is.
  package enum Kind: Hashable, Sendable {
    case unknownEntity
    case unknownProperty
    /// A path goes through an attribute or a to-many relationship, or ends at a to-many
    /// relationship.
    case notToOne
    /// Membership in what is no to-many relationship.
    case notToMany
    /// A value of another kind than the property's.
    case incomparable
    /// A text match on a property that is not text.
    case notText
  }

  package let kind: Kind
  /// The path in question.
  package let path: PropertyPath
  /// What is wrong, as a sentence without its full stop.
  package let description: String

  package init(_ kind: Kind, _ path: PropertyPath, _ description: String) {
    self.kind = kind
    self.path = path
    self.description = description
  }

  /// Whether the state's schema lacks what the path names: another state may have it.
  package var isOfSchema: Bool { kind == .unknownEntity || kind == .unknownProperty }
}

/// Why a condition could not be evaluated.
package enum ConditionFault: Error, Sendable {
  /// The state could not be read.
  case state(StateFault)
  /// A large value could not be read.
  case largeValue(any Error)
  /// What is evaluated on records failed.
  case record(any Error)

  /// Runs `body`, whose fault becomes one of evaluation.
  @inline(__always)
  static func reading<T>(_ body: () throws(StateFault) -> T) throws(ConditionFault) -> T {
    do throws(StateFault) { return try body() } catch { throw .state(error) }
  }
}

extension Entity {
  /// Says that a path cannot go through, or end at, the to-many relationship of this name.
  package func toManyReason(_ name: String) -> String {
    "\"\(name)\" of \(self.name) is to-many: a path goes through to-one only. A condition on its "
      + "objects is CONTAINS or ANY"
  }

  /// Says that the property of this name is no to-many relationship.
  package func notToManyReason(_ name: String) -> String {
    let kind = relationship(named: name) == nil ? "an attribute" : "a to-one relationship"
    return "\"\(name)\" of \(self.name) is \(kind), not to-many: it is compared without ANY or "
      + "CONTAINS"
  }

  /// Says that there is no property of this name, with the nearest existing name.
  package func unknownName(_ name: String) -> String {
    let names =
      attributes.filter { !$0.isRemoved }.map(\.name)
      + relationships.filter { !$0.isRemoved }.map(\.name)
    return "\(self.name) has no property \"\(name)\"" + NearName.hint(name, among: names)
  }
}
