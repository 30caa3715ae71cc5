// What a box index may be over.

extension IndexDescription {
  /// How many properties a box index is over.
  package static let boxPropertyCounts = 2...8

  /// What is wrong with it as a box index, apart from its attributes; nil if nothing is.
  package var boxProblem: String? {
    if isUnique { return "a box index cannot be unique" }
    if !IndexDescription.boxPropertyCounts.contains(elements.count) {
      return "a box index is over two to eight attributes"
    }
    if elements.contains(where: { $0.isDescending || $0.countsNullAsGreatest }) {
      return "a box index has no order: its attributes have no direction"
    }
    return nil
  }
}

extension AttributeType {
  /// Whether a box index may be over attributes of this type: all their values then compare with
  /// each other.
  package var fitsBox: Bool {
    switch tag {
    case .int, .double, .date: true
    default: false
    }
  }
}

extension Entity {
  /// The box index that is over this attribute, which therefore keeps its type; nil if there is
  /// none.
  package func boxIndex(over property: PropertyNumber) -> IndexDescription? {
    indexes.first { index in
      index.isBox && index.elements.contains { $0.property == property }
    }
  }

  /// An attribute that a box index cannot be over; nil if there is none.
  func misfit(ofBox index: IndexDescription) -> Attribute? {
    index.elements.lazy.compactMap { self.attribute(numbered: $0.property) }
      .first { !$0.type.fitsBox }
  }
}
