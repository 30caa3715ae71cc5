import AnnalsEngine
import AnnalsModel
import Foundation

/// Which transactions, or which changes, a reader of history wants.
///
/// Terms about the transaction (author, context, date) and terms about a change (entity, object,
/// property, kind) combine with `&&`, `||` and `!`. The condition is asked of every change; a
/// transaction is wanted if one of its changes is, or, where no term speaks of changes, if the
/// transaction itself is.
///
///     .author != "me" && .touches("Post", "title")
public struct HistoryCondition: Sendable {
  package indirect enum Node: Sendable {
    case always
    case author(String?)
    case context(String?)
    case since(Timestamp)
    case until(Timestamp)
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

  /// Every transaction and every change.
  public static let always = HistoryCondition(.always)

  /// Transactions whose timestamp is this moment or later.
  public static func since(_ date: Date) -> HistoryCondition {
    HistoryCondition(.since(Timestamp(date)))
  }

  /// Transactions whose timestamp is this moment or earlier.
  public static func until(_ date: Date) -> HistoryCondition {
    HistoryCondition(.until(Timestamp(date)))
  }

  /// Changes of this kind.
  public static func kind(_ kind: ChangeKind) -> HistoryCondition { HistoryCondition(.kind(kind)) }

  /// Changes to objects of the entity of this name.
  public static func touches(_ entity: String) -> HistoryCondition {
    HistoryCondition(.entity(entity))
  }

  /// Changes to the named property of objects of the named entity.
  public static func touches(_ entity: String, _ property: String) -> HistoryCondition {
    HistoryCondition(.property(entity: entity, name: property))
  }

  /// Changes to a property of this name, in any entity.
  public static func touches(property name: String) -> HistoryCondition {
    HistoryCondition(.propertyName(name))
  }

  /// Changes to this object.
  public static func touches(_ object: ObjectID) -> HistoryCondition {
    HistoryCondition(.objects([object]))
  }

  /// Changes to any of these objects. A change is tested in O(1).
  public static func touches(_ objects: some Sequence<ObjectID>) -> HistoryCondition {
    HistoryCondition(.objects(Array(objects)))
  }

  /// What both conditions want.
  public static func && (a: HistoryCondition, b: HistoryCondition) -> HistoryCondition {
    HistoryCondition(.and(a.node, b.node))
  }

  /// What either condition wants.
  public static func || (a: HistoryCondition, b: HistoryCondition) -> HistoryCondition {
    HistoryCondition(.or(a.node, b.node))
  }

  /// What the condition does not want.
  public static prefix func ! (a: HistoryCondition) -> HistoryCondition {
    HistoryCondition(.not(a.node))
  }

  /// A name that a transaction carries, to compare with a text.
  public struct NameTerm: Sendable {
    let make: @Sendable (String?) -> HistoryCondition

    /// The author, to compare with `==` or `!=`; nil stands for no author.
    public static var author: NameTerm { NameTerm { HistoryCondition(.author($0)) } }

    /// The context, to compare with `==` or `!=`; nil stands for no context.
    public static var context: NameTerm { NameTerm { HistoryCondition(.context($0)) } }

    /// Transactions that carry this name; byte for byte.
    public static func == (term: NameTerm, name: String?) -> HistoryCondition { term.make(name) }

    /// Transactions that carry another name, or none.
    public static func != (term: NameTerm, name: String?) -> HistoryCondition { !term.make(name) }
  }
}
