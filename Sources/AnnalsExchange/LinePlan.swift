import Annals
import AnnalsModel
import AnnalsState

/// The members of the lines of one entity, in order, with the columns that hold their values.
struct LinePlan {
  enum Content {
    case entity
    case row
    case key(Attribute, column: Int?)
    case attribute(Attribute, column: Int?)
    case relationship(Relationship)
  }

  struct Member {
    var name: String
    /// The name as JSON, with its colon.
    var quotedName: ContiguousArray<UInt8>
    var content: Content

    init(name: String, content: Content) {
      self.name = name
      self.content = content
      var json = JSONWriter(escapingHidden: false)
      json.key(name)
      quotedName = json.bytes
    }
  }

  private(set) var members: [Member] = [Member(name: "entity", content: .entity)]
  /// The names in use. `entity` and `id` always are.
  private var names = NameIndex(["entity", "id"])

  init(_ entity: Entity, _ table: TableView) {
    let key = entity.keyAttribute
    members.append(
      Member(
        name: "id",
        content: key.map { .key($0, column: table.column(of: $0.number)) } ?? .row))
    for attribute in entity.attributes where !attribute.isRemoved {
      // A key named `id` is the member `id` already.
      if attribute.number == key?.number, attribute.name.hasSameBytes(as: "id") { continue }
      add(attribute.name, .attribute(attribute, column: table.column(of: attribute.number)))
    }
    for relationship in entity.relationships where !relationship.isRemoved {
      add(relationship.name, .relationship(relationship))
    }
    members.sort { $0.name.precedesInBytes($1.name) }
  }

  private mutating func add(_ name: String, _ content: Content) {
    var name = name
    while !names.insert(name, at: members.count) { name += "_" }
    members.append(Member(name: name, content: content))
  }
}
