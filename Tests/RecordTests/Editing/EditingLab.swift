import Annals
import AnnalsModel
import AnnalsTestSupport

/// An object of a random graph: what it refers to deletes it, or is cleared.
struct Node: Record, Equatable {
  var name: String
  var count: Int?
  var parent: Reference<Node>?
  var friend: Reference<Node>?
  var text: String?

  init(
    name: String, count: Int?, parent: Reference<Node>?, friend: Reference<Node>?, text: String?
  ) {
    (self.name, self.count, self.text) = (name, count, text)
    (self.parent, self.friend) = (parent, friend)
  }

  init(_ name: String, parent: Reference<Node>? = nil) {
    self.init(name: name, count: nil, parent: parent, friend: nil, text: nil)
  }

  static let entity = RecordEntity(
    "Node", Node.init(name:count:parent:friend:text:), Property("name", \.name).unique(),
    Property("count", \.count).range(0...100),
    Property("parent", \.parent).onDelete(.cascade), Property("friend", \.friend),
    Property("text", \.text))

  static let children = Inverse(\Node.parent)
}

extension Store {
  static func ofNodes(_ names: String...) throws -> Store {
    let store = try Store(.memory, records: Node.self)
    try store.write { tx in for name in names { try tx.insert(Node(name)) } }
    return store
  }

  func node(_ name: String) throws -> Object<Node>? {
    try snapshot().object(Node.self, where: \.name, is: name)
  }

  func problems() throws -> [StoreFinding] { try verify().filter { $0.severity != .note } }

  /// The names of all nodes, in their order.
  func nodeNames() throws -> [String] {
    try snapshot().fetch(Fetch(Node.self).sorted(by: \.name)).map(\.name)
  }
}

/// A store of nodes, a context on it, and one of its objects.
struct EditingLab {
  let store: Store
  let form: EditingContext
  let a: EditableObject<Node>

  init() throws {
    store = try .ofNodes("a", "b")
    form = try EditingContext(store)
    guard let a = try form.node("a") else { throw NoNode() }
    self.a = a
  }

  private struct NoNode: Error {}
}

extension EditingContext {
  func node(_ name: String) throws -> EditableObject<Node>? {
    try object(Node.self, where: \.name, is: name)
  }

  func nodeNames() throws -> [String] {
    try fetch(Fetch(Node.self).sorted(by: \.name)).map(\.name)
  }
}
