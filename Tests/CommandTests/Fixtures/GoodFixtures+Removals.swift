import Annals
import AnnalsModel

extension FixtureRecipe {
  /// Removals that record what they clear and delete; a name that is added again.
  static func removals(in store: Store) throws {
    let schema = Schema {
      Entity("Page") {
        Attribute("id", .int64, isOptional: false, isUnique: true)
        Attribute("title", .string, isOptional: false, default: "untitled")
        Relationship("tags", to: "Tag", isToMany: true)
      }
      Entity("Tag") { Attribute("name", .string) }
    }
    try store.require(schema)
    try store.write { tx in
      let tags = try ["red", "blue"].map {
        ObjectReference(try tx.insert("Tag", ["name": .string($0)]))
      }
      for number in 1...3 as ClosedRange<Int64> {
        try tx.insert("Page", ["id": .int(number), "title": "page", "tags": .objects(tags)])
      }
    }
    try store.edit(
      .renameEntity("Page", to: "Sheet"), .removeProperty(entity: "Sheet", "title"),
      .removeProperty(entity: "Sheet", "tags"), .removeEntity("Tag"))
    try store.require(Schema { Entity("Sheet") { Attribute("title", .int64) } })
    try store.write { tx in try tx.insert("Sheet", ["id": 4, "title": 4]) }
    try store.checkpoint()
    try store.edit(.removeProperty(entity: "Sheet", "title"))
  }

  /// A to-one relationship that becomes required, and optional, and required, with a checkpoint
  /// between.
  static func required(in store: Store) throws {
    func schema(isOptional: Bool) -> Schema {
      Schema {
        Entity("Line") { Attribute("id", .string, isOptional: false, isUnique: true) }
        Entity("Stop") {
          Attribute("id", .string, isOptional: false, isUnique: true)
          Relationship("line", to: "Line", isOptional: isOptional)
          Relationship("next", to: "Stop")
        }
      }
    }
    try store.require(schema(isOptional: true))
    let (line, stop) = try store.write { tx in
      let line = ObjectReference(try tx.insert("Line", ["id": "red"]))
      return (line, try tx.insert("Stop", ["id": "a"]))
    }
    try store.write { tx in
      try tx.update(stop, ["line": .object(line)])
      try tx.require(schema(isOptional: false))
    }
    try store.checkpoint()
    try store.require(schema(isOptional: true))
    try store.require(schema(isOptional: false))
    try store.write { tx in
      try tx.insert(
        "Stop", ["id": "b", "line": .object(line), "next": .object(ObjectReference(stop))])
    }
  }
}
