/// The kind of an index: what its keys say, which attributes it takes, and how it is written.
///
/// Whoever has an index asks its kind; only few files name one. CONTRIBUTING.md, "An index kind".
package enum IndexKind: Hashable, Sendable {
  /// The objects in the order of their values.
  case ordered
  /// For ranges of several numbers or dates at once, without an order.
  case box
  /// Who refers to each object. Made for a relationship that needs it; no definition has this kind.
  case references

  /// The kinds that a definition may have, in the order of their bits in a file.
  package static let defined: [IndexKind] = [.ordered, .box]

  /// What it is called before "index", in JSON, in the flags of a file and as an option; nil for
  /// ordered indexes, which have no name.
  package var word: String? {
    switch self {
    case .ordered: nil
    case .box: "box"
    case .references: "reference"
    }
  }

  /// Its bit in the flags of a stored definition; 0 for ordered indexes, and for what no definition
  /// has. Never renumber.
  package var flag: UInt8 {
    switch self {
    case .ordered, .references: 0
    case .box: 8
    }
  }

  /// Whether objects can be read in the order of their values. Otherwise objects without a value in
  /// some column have no key, no index is unique, and attributes have no direction.
  package var givesOrder: Bool {
    switch self {
    case .ordered: true
    case .box, .references: false
    }
  }

  /// The numbers of properties that it may have, and what messages call them; nil for any number.
  package var propertyCounts: (range: ClosedRange<Int>, text: String)? {
    switch self {
    case .ordered, .references: nil
    case .box: (2...8, "two to eight")
    }
  }

  /// What messages call the attributes that it may cover; nil for any. Then no attribute that it
  /// covers can become one of type `any`.
  package var coverage: String? {
    switch self {
    case .ordered: nil
    case .box: "numbers and dates"
    case .references: "one relationship"
    }
  }

  /// Whether it may cover attributes of this type: all values of it must be comparable with each
  /// other, if the kind has no order for those that are not.
  package func covers(_ type: AttributeType) -> Bool {
    switch self {
    case .ordered: true
    case .references: false
    case .box:
      switch type.tag {
      case .int, .double, .date, .day: true
      default: false
      }
    }
  }
}

extension IndexKind {
  /// What messages call an index of this kind.
  package var title: String { word.map { "\($0) index" } ?? "index" }

  /// What stands before the properties of an index of this kind, in its name and in lists.
  package var prefix: String { word.map { "\($0) of " } ?? "" }

  /// The bits of all kinds in the flags of a stored definition.
  package static let flags: UInt8 = defined.reduce(0) { $0 | $1.flag }

  /// The kind with exactly this bit of `flags`; nil for a kind of a later version.
  package init?(flags: UInt8) {
    guard let kind = IndexKind.defined.first(where: { $0.flag == flags & IndexKind.flags }) else {
      return nil
    }
    self = kind
  }

  /// The kind of this name; nil if there is none.
  package init?(named word: String) {
    guard let kind = IndexKind.defined.first(where: { $0.word?.hasSameBytes(as: word) == true })
    else { return nil }
    self = kind
  }
}

extension IndexDescription {
  /// Creates a box index over two to eight attributes that are numbers or dates: it serves
  /// conditions such as `latitude > 47 AND latitude < 48 AND longitude > 7 AND longitude < 9`.
  ///
  /// It has no order, and omits objects that lack one of the values. The condition is as for other
  /// indexes. Opening a store refuses attributes of other types, and other numbers of them.
  public init(_ name: String, box properties: [String], where condition: Condition? = nil) {
    self.init(name, properties.map { IndexElement($0) }, where: condition)
    kind = .box
  }

  /// Whether it is a box index: for ranges of several numbers or dates at once, without an order.
  public var isBox: Bool {
    get { kind == .box }
    set { kind = newValue ? .box : .ordered }
  }

  /// What makes it invalid as an index of its kind, apart from its attributes; nil if nothing does.
  package var kindProblem: String? {
    if isUnique, !kind.givesOrder { return "a \(kind.title) cannot be unique" }
    if let counts = kind.propertyCounts, !counts.range.contains(elements.count) {
      return "a \(kind.title) is over \(counts.text) attributes"
    }
    if !kind.givesOrder, elements.contains(where: { $0.isDescending || $0.countsNullAsGreatest }) {
      return "a \(kind.title) has no order: its attributes have no direction"
    }
    return nil
  }

  /// Why an index of its kind cannot cover a property: an attribute of this type, or a relationship
  /// if there is no type. Nil if it can.
  func misfit(of type: AttributeType?) -> String? {
    guard let coverage = kind.coverage else { return nil }
    if let type, kind.covers(type) { return nil }
    let what = type.map { "of type \($0)" } ?? "a relationship"
    return "\(what): a \(kind.title) is over \(coverage)"
  }
}

extension Entity {
  /// The index that covers this attribute and whose kind needs it to keep its type; nil if there is
  /// none.
  package func indexKeepingType(of property: PropertyNumber) -> IndexDescription? {
    indexes.first { index in
      index.kind.coverage != nil && index.elements.contains { $0.property == property }
    }
  }

  /// An attribute that an index of this kind cannot cover; nil if there is none.
  func misfit(of index: IndexDescription) -> Attribute? {
    index.elements.lazy.compactMap { self.attribute(numbered: $0.property) }
      .first { !index.kind.covers($0.type) }
  }
}
