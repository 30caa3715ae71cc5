// The requirements of a box index.

extension IndexDescription {
  /// The numbers of properties that a box index may have.
  package static let boxPropertyCounts = 2...8

  /// What makes it invalid as a box index, apart from its attributes; nil if nothing does.
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
  /// Whether a box index may cover attributes of this type: all values of it must be comparable
  /// with each other.
  package var fitsBox: Bool {
    switch tag {
    case .int, .double, .date: true
    default: false
    }
  }
}

extension Entity {
  /// The box index that covers this attribute, which therefore cannot change its type; nil if there
  /// is none.
  package func boxIndex(over property: PropertyNumber) -> IndexDescription? {
    indexes.first { index in
      index.isBox && index.elements.contains { $0.property == property }
    }
  }

  /// An attribute that a box index cannot cover; nil if there is none.
  func misfit(ofBox index: IndexDescription) -> Attribute? {
    index.elements.lazy.compactMap { self.attribute(numbered: $0.property) }
      .first { !$0.type.fitsBox }
  }
}
