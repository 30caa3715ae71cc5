/// A definition that is a list of fields: an attribute, a relationship, an index or a part of one.
///
/// What a field is called, how its content is written as JSON, as text and in an extension area is
/// said once, in `fields`; readers and writers follow from that.
package protocol Definition: Hashable, Sendable {
  /// What messages call it.
  static var title: String { get }
  /// Its fields, in the order of JSON.
  static var fields: [DefinitionField<Self>] { get }
  /// A definition whose fields have their usual content.
  init()
}

/// One field of a definition.
package struct DefinitionField<Owner>: Sendable {
  /// Its member in JSON.
  package let name: String
  package let form: FieldForm
  /// Its content; nil if it is the usual one, which is not written.
  package let content: @Sendable (Owner) -> FieldContent?
  /// Sets the content. One of another form changes nothing.
  package let set: @Sendable (inout Owner, FieldContent) -> Void
  /// The end of a sentence about a definition without it; nil if it may be left out.
  package private(set) var lack: String?
  /// Its item in the definition's extension area; nil if it has bytes of its own.
  package private(set) var item: (tag: UInt64, meaning: String)?
  /// What texts say before the content, and whether before other fields; nil if they omit it.
  fileprivate var text: (words: String, isEarly: Bool)?
  /// How a store's definition changes when a program opens it that needs another: the reason
  /// against that, or nil. Nil if it never changes.
  fileprivate var growth: (@Sendable (inout Owner, Owner) -> String?)?

  init(
    _ name: String, _ form: FieldForm, _ content: @escaping @Sendable (Owner) -> FieldContent?,
    set: @escaping @Sendable (inout Owner, FieldContent) -> Void
  ) {
    self.name = name
    self.form = form
    self.content = content
    self.set = set
  }

  /// The field as one that no definition lacks, with the end of the sentence that says so.
  func needed(_ lack: String) -> Self {
    changing(self) { $0.lack = lack }
  }

  /// The field as one that texts mention: these words, then the content if it is no flag.
  func said(_ words: String, early isEarly: Bool = false) -> Self {
    changing(self) { $0.text = (words, isEarly) }
  }

  /// The field as one that follows the programs that open a store: `rule` changes what is stored to
  /// what is needed, too, or returns why that is impossible.
  func growsUnless(
    _ rule: @escaping @Sendable (_ stored: inout Owner, _ needed: Owner) -> String?
  ) -> Self { changing(self) { $0.growth = rule } }

  /// As `growsUnless`, where it is always possible.
  func grows(_ rule: @escaping @Sendable (_ stored: inout Owner, _ needed: Owner) -> Void) -> Self {
    growsUnless {
      rule(&$0, $1)
      return nil
    }
  }

  /// The field as one that programs set: what is not as usual replaces what is stored.
  func declared() -> Self {
    grows { [content, set] stored, needed in
      if let content = content(needed) { set(&stored, content) }
    }
  }

  /// The field as an item of the definition's extension area. Never renumber.
  func item(_ tag: UInt64, _ meaning: String) -> Self {
    changing(self) { $0.item = (tag, meaning) }
  }
}

/// What the content of a field is.
package indirect enum FieldForm: Sendable {
  case flag(usual: Bool)
  /// The number of a definition; 0 if it has none.
  case number
  case whole
  case text
  /// One of these words; with what messages say of any other.
  case word([String], refusal: String)
  /// A value, or several, of the definition's own type.
  case value
  case values
  /// A value of any kind, or null.
  case any
  case list(DefinitionShape)
  /// A definition within the definition.
  case part(DefinitionShape)
}

/// The content of a field.
package enum FieldContent: Sendable {
  case flag(Bool)
  case number(UInt32)
  case whole(Int64)
  case text(String)
  case word(String)
  case value(Value, AttributeType)
  case values([Value], AttributeType)
  case list([[FieldMember]])
  case part([FieldMember])

  /// Whether it is a text or a list with nothing in it.
  package var isEmpty: Bool {
    switch self {
    case .text(let text): text.isEmpty
    case .list(let items): items.isEmpty
    default: false
    }
  }

  /// The content after words that introduce it; the words alone for a flag.
  fileprivate func text(after words: String) -> String {
    switch self {
    case .flag, .list, .part: words
    case .number(let number): "\(words) \(number)"
    case .whole(let number): "\(words) \(number)"
    case .text(let text), .word(let text): "\(words) \(text)"
    case .value(let value, let type): "\(words) \(FieldContent.text(of: value, as: type))"
    case .values(let values, let type):
      "\(words) \(values.map { FieldContent.text(of: $0, as: type) }.joined(separator: " "))"
    }
  }

  /// A value as text. Where its type is known, a decimal or a day is written plainly.
  private static func text(of value: Value, as type: AttributeType) -> String {
    type == .decimal || type == .day ? value.plainText : value.conditionText
  }
}

/// A field with its content.
package typealias FieldMember = (name: String, content: FieldContent)

/// The fields of a kind of definition, whichever it is.
package struct DefinitionShape: Sendable {
  package var title: String
  package var fields: [(name: String, form: FieldForm, lack: String?)]

  /// What messages call a definition, with the article.
  package var article: String {
    title.first.map("aeiou".contains) == true ? "an \(title)" : "a \(title)"
  }
}

extension Definition {
  package static var shape: DefinitionShape {
    DefinitionShape(title: title, fields: fields.map { ($0.name, $0.form, $0.lack) })
  }

  /// The definition with this content; fields that are not among it have their usual one.
  package init(_ members: [FieldMember]) {
    self.init()
    // In the order of the fields: some depend on earlier ones.
    for field in Self.fields {
      for member in members where member.name == field.name { field.set(&self, member.content) }
    }
  }

  /// The fields that are not as usual.
  package var members: [FieldMember] {
    Self.fields.compactMap { field in field.content(self).map { (field.name, $0) } }
  }

  /// Changes a store's definition to what a program needs, too. Returns the reasons against it.
  mutating func grow(toHold needed: Self) -> [String] {
    Self.fields.compactMap { $0.growth?(&self, needed) }
  }

  /// What texts say of it.
  package var texts: [String] {
    let said = Self.fields.compactMap { field in
      field.text.flatMap { text in
        field.content(self).map { (text.isEarly, $0.text(after: text.words)) }
      }
    }
    return (said.filter(\.0) + said.filter { !$0.0 }).map(\.1)
  }
}
