import AnnalsModel

/// A condition on transactions and changes, for readers of history.
///
/// Terms about the transaction (author, context, date) and terms about a change (entity, object,
/// property, kind) combine with `&&`, `||` and `!`. Each change is tested. A transaction matches if
/// one of its changes does or, where no term is about changes, if the transaction itself does.
///
///     .author != "me" && .touches("Post", "title")
public struct HistoryCondition: Sendable {
  package indirect enum Node: Sendable {
    case always
    case author(String?)
    case context(String?)
    case since(Timestamp)
    case until(Timestamp)
    /// A timestamp of this range: what `since` and `until` become once now is known.
    case dated(ClosedRange<Timestamp>)
    /// A `Date` that is infinite or not a number.
    case noDate
    case kind(ChangeKind)
    case entity(String)
    /// Any of these objects.
    case objects([ObjectID])
    case property(entity: String, name: String)
    case propertyName(String)
    case not(Node)
    case and(Node, Node)
    case or(Node, Node)
  }

  package var node: Node

  package init(_ node: Node) {
    self.node = node
  }

  /// Throws `.otherStore` if the condition names an object of another store.
  package func requireOwn(_ store: RawUUID) throws(AnnalsError) {
    switch node {
    case .objects(let ids): for id in ids { try id.requireOwn(store) }
    case .not(let part): try HistoryCondition(part).requireOwn(store)
    case .and(let a, let b), .or(let a, let b):
      try HistoryCondition(a).requireOwn(store)
      try HistoryCondition(b).requireOwn(store)
    case .always, .since, .until, .dated, .noDate, .author, .context, .kind, .entity, .property,
      .propertyName:
      return
    }
  }

  /// Matches every transaction and every change.
  public static let always = HistoryCondition(.always)

  /// Matches changes of this kind.
  public static func kind(_ kind: ChangeKind) -> HistoryCondition { HistoryCondition(.kind(kind)) }

  /// Matches changes to objects of the named entity.
  public static func touches(_ entity: String) -> HistoryCondition {
    HistoryCondition(.entity(entity))
  }

  /// Matches changes to the named property of objects of the named entity.
  public static func touches(_ entity: String, _ property: String) -> HistoryCondition {
    HistoryCondition(.property(entity: entity, name: property))
  }

  /// Matches changes to a property of this name, in any entity.
  public static func touches(property name: String) -> HistoryCondition {
    HistoryCondition(.propertyName(name))
  }

  /// Matches changes to this object.
  public static func touches(_ object: ObjectID) -> HistoryCondition {
    HistoryCondition(.objects([object]))
  }

  /// Matches changes to any of these objects. O(1) for each change.
  public static func touches(_ objects: some Sequence<ObjectID>) -> HistoryCondition {
    HistoryCondition(.objects(Array(objects)))
  }

  /// Matches what both conditions match.
  public static func && (a: HistoryCondition, b: HistoryCondition) -> HistoryCondition {
    HistoryCondition(.and(a.node, b.node))
  }

  /// Matches what either condition matches.
  public static func || (a: HistoryCondition, b: HistoryCondition) -> HistoryCondition {
    HistoryCondition(.or(a.node, b.node))
  }

  /// Matches what the condition does not match.
  public static prefix func ! (a: HistoryCondition) -> HistoryCondition {
    HistoryCondition(.not(a.node))
  }

  /// A name in a transaction, to be compared with a text.
  public struct NameTerm: Sendable {
    let make: @Sendable (String?) -> HistoryCondition

    /// The author, to compare with `==` or `!=`; nil means no author.
    public static var author: NameTerm { NameTerm { HistoryCondition(.author($0)) } }

    /// The context, to compare with `==` or `!=`; nil means no context.
    public static var context: NameTerm { NameTerm { HistoryCondition(.context($0)) } }

    /// Matches transactions with exactly this name, byte for byte.
    public static func == (term: NameTerm, name: String?) -> HistoryCondition { term.make(name) }

    /// Matches transactions with another name, or none.
    public static func != (term: NameTerm, name: String?) -> HistoryCondition { !term.make(name) }
  }
}
