import AnnalsModel

/// One property of a change, with its values before and after.
public struct PropertyDifference: Sendable {
  /// The property's stable number.
  public let number: PropertyNumber
  /// The property's name at the time.
  public let name: String
  /// The value before; null if there was none.
  public let before: Value
  /// The value after; null if there is none.
  public let after: Value
  private let keptEdits: KeptEdits

  init(number: PropertyNumber, name: String, before: Value, after: Value) {
    self.number = number
    self.name = name
    self.before = before
    self.after = after
    keptEdits = .none
  }

  init(number: PropertyNumber, name: String, edits: RelationshipEdits) {
    self.number = number
    self.name = name
    before = .null
    after = .null
    keptEdits = .some(edits)
  }

  /// What an update did to a to-many relationship; nil for everything else.
  public var edits: RelationshipEdits? {
    if case .some(let edits) = keptEdits { edits } else { nil }
  }

  /// Edits in one word: most differences have none.
  private enum KeptEdits: Sendable, Hashable {
    case none
    indirect case some(RelationshipEdits)
  }
}

extension PropertyDifference: Hashable {}

extension PropertyDifference: CustomStringConvertible {
  /// The name and the values, or the edits: `title: string("Fog") → string("Mist")`.
  public var description: String {
    if let edits { return "\(name): \(edits)" }
    return "\(name): \(before) → \(after)"
  }
}
