import Annals
import AnnalsModel
import AnnalsTestSupport
import Testing

/// What becomes of an object when one that it refers to is deleted.
@Suite struct DeleteRuleTests {
  @Test(arguments: DeleteRule.allCases, [false, true])
  func eachRuleDoesWhatItSays(_ rule: DeleteRule, isToMany: Bool) throws {
    let store = try Graph.store { name in
      Relationship(name, to: "Node", isToMany: isToMany, isOrdered: isToMany, onDelete: rule)
    }
    let nodes = try store.nodes(["a", "b", "c"])
    let refs = nodes.map { ObjectReference($0) }
    try store.write {
      try $0.update(nodes[1], ["to": isToMany ? .objects(refs) : .object(refs[0])])
    }
    func delete() throws { try store.write { try $0.delete(nodes[0]) } }
    switch rule {
    case .keep:
      try delete()
      #expect(try store.names() == ["b", "c"])
      // The reference leads to nothing, until the object is revived.
      #expect(try store.verify().count { $0.message.contains("relationships name objects") } == 1)
      try store.revert(store.token)
      #expect(try store.targets(of: nodes[1]).first == refs[0])
    case .nullify:
      try delete()
      #expect(try store.targets(of: nodes[1]) == (isToMany ? Array(refs[1...]) : []))
      #expect(try store.snapshot(at: store.token.number - 1).object(nodes[0]) != nil)
    case .cascade:
      try delete()
      #expect(try store.names() == ["c"])
    case .deny:
      let error = #expect(throws: AnnalsError.self) { try delete() }
      #expect(error?.code == .invalidChange)
      #expect(
        error?.message.contains(
          "Node/b.to: it refers to Node/a, which cannot be deleted as long as it does") == true)
      #expect(try store.names() == ["a", "b", "c"])
      try store.write { tx in
        try tx.delete(nodes[0])
        try tx.update(nodes[1], ["to": .null])
      }
      #expect(try store.names() == ["b", "c"])
    }
    #expect(try store.problems() == [])
  }

  @Test func cascadesGoOnThroughCycles() throws {
    let store = try Graph.store { Relationship($0, to: "Node", onDelete: .cascade) }
    let names = ["a", "b", "c", "d", "e"]
    let nodes = try store.nodes(names)
    // b to a, c to b, a to c: a cycle. d to c, and e to itself.
    try store.connect([nodes[1]: nodes[0], nodes[2]: nodes[1], nodes[0]: nodes[2]])
    try store.connect([nodes[3]: nodes[2], nodes[4]: nodes[4]])
    try store.write { try $0.delete(nodes[1]) }
    #expect(try store.names() == ["e"])
    let changes = try store.transaction(store.token.number).changes
    #expect(changes.map(\.kind) == [.delete, .delete, .delete, .delete])
    // Children first: what refers to an object goes before it.
    #expect(changes.map(\.objectID) == [nodes[3], nodes[0], nodes[2], nodes[1]])
    try store.write { try $0.delete(nodes[4]) }
    #expect(try store.names() == [])
    // Undoing the transaction undoes its effects, under the same ids.
    try store.revert(store.token.number - 1)
    #expect(try store.names() == ["a", "b", "c", "d"])
    #expect(try store.targets(of: nodes[3]) == [ObjectReference(nodes[2])])
    #expect(try store.problems() == [])
  }

  /// What the transaction has touched before a deletion, or after it, keeps its place; what follows
  /// from the deletion goes before it, whether the transaction had touched it or not.
  @Test(arguments: [false, true]) func whatADeletionTakesAlongGoesBeforeIt(wasTouched: Bool) throws
  {
    let store = try Graph.store { Relationship($0, to: "Node", onDelete: .cascade) }
    let nodes = try store.nodes(["a", "b", "c", "before", "after"])
    try store.connect([nodes[1]: nodes[0], nodes[2]: nodes[1]])
    try store.write { tx in
      if wasTouched { try tx.update(nodes[2], ["count": 1]) }
      try tx.update(nodes[3], ["count": 1])
      try tx.delete(nodes[0])
      try tx.update(nodes[4], ["count": 1])
    }
    let changes = try store.transaction(store.token.number).changes
    #expect(changes.map(\.objectID) == [nodes[3], nodes[2], nodes[1], nodes[0], nodes[4]])
    #expect(changes.map(\.kind) == [.update, .delete, .delete, .delete, .update])
  }

  @Test func whatTheEndOfTheTransactionSaysCounts() throws {
    let store = try Graph.store { Relationship($0, to: "Node", onDelete: .cascade) }
    let nodes = try store.nodes(["a", "b", "c"])
    try store.connect([nodes[1]: nodes[0]])
    try store.write { tx in
      try tx.delete(nodes[0])
      // It refers to another one by now.
      try tx.update(nodes[1], ["to": .object(ObjectReference(nodes[2]))])
    }
    #expect(try store.names() == ["b", "c"])
  }

  @Test func aDeniedDeletionPassesIfTheReferrerGoesToo() throws {
    let schema = Schema {
      Entity("Folder") { Attribute("name", .string) }
      Entity("Note") {
        Attribute("name", .string)
        Relationship("folder", to: "Folder", isOptional: false)
        Relationship("about", to: "Note", onDelete: .cascade)
      }
    }
    let store = try Store(memoryFile(), schema: schema, environment: .fixed())
    let (folder, note) = try store.write { tx in
      let folder = try tx.insert("Folder")
      let about = try tx.insert("Note", ["folder": .object(ObjectReference(folder))])
      try tx.insert(
        "Note",
        ["folder": .object(ObjectReference(folder)), "about": .object(ObjectReference(about))])
      return (folder, about)
    }
    // The default of a required reference.
    #expect(throws: AnnalsError.self) { try store.write { try $0.delete(folder) } }
    try store.write { tx in
      try tx.delete(folder)
      try tx.delete(note)
    }
    #expect(try store.snapshot().count(of: "Note") == 0)
  }

  @Test func everyWayToDeleteObeys() throws {
    let store = try Graph.store { Relationship($0, to: "Node", onDelete: .cascade) }
    func pair(_ name: String) throws -> ObjectID {
      let nodes = try store.nodes([name, "\(name)'s"])
      try store.connect([nodes[1]: nodes[0]])
      return nodes[0]
    }
    _ = try pair("condition")
    try store.write { tx in
      for node in try tx.fetch(DynamicFetch("Node").where(.compare("name", .equal, "condition"))) {
        try tx.delete(node.objectID)
      }
    }
    #expect(try store.names() == [])
    let erased = try pair("erased")
    try store.erase(erased, reason: "asked")
    #expect(try store.names() == [])
    let inserted = try store.nodes(["inserted"])
    let insertion = store.token.number
    let later = try store.nodes(["later"])
    try store.connect([later[0]: inserted[0]])
    let plan = try store.revertPlan(insertion)
    #expect((plan.deletions, plan.updates, plan.revivals) == (2, 0, 0))
    try store.revert(insertion)
    #expect(try store.names() == [])
    #expect(try store.problems() == [])
  }

  @Test func aReferenceIndexIsKeptByCheckpointsAndFound() throws {
    let location = memoryFile()
    var store = try Graph.store(at: location) { Relationship($0, to: "Node", onDelete: .cascade) }
    var nodes: [ObjectID] = []
    try store.write { tx in
      for number in 0..<6_000 {
        let target = nodes.isEmpty ? Value.null : .object(ObjectReference(nodes[number / 2]))
        nodes.append(try tx.insert("Node", ["name": .string("n\(number)"), "to": target]))
      }
    }
    try store.close()
    store = try Store(location, environment: .fixed())
    #expect(try store.problems() == [])
    try store.write { try $0.delete(nodes[3]) }
    #expect(try store.snapshot().count(of: "Node") < 6_000 - 1_000)
    #expect(try store.problems() == [])
    try store.compact()
    #expect(try store.problems() == [])
    #expect(try store.snapshot(at: 2).count(of: "Node") == 6_000)
  }
}

/// Stores of nodes with one relationship among them.
enum Graph {
  static func store(
    at location: StoreLocation = memoryFile(), _ relationship: (String) -> Relationship
  ) throws -> Store {
    let to = relationship("to")
    let schema = Schema {
      Entity("Node", displayName: "name") {
        Attribute("name", .string, isUnique: true)
        Attribute("count", .int64)
        to
      }
    }
    return try Store(location, schema: schema, environment: .fixed())
  }
}

extension Store {
  /// Inserts nodes in one transaction.
  func nodes(_ names: [String]) throws -> [ObjectID] {
    try write { tx in try names.map { try tx.insert("Node", ["name": .string($0)]) } }
  }

  /// Sets the reference of each node.
  func connect(_ references: KeyValuePairs<ObjectID, ObjectID>) throws {
    try write { tx in
      for (node, target) in references {
        try tx.update(node, ["to": .object(ObjectReference(target))])
      }
    }
  }

  func targets(of node: ObjectID) throws -> [ObjectReference] {
    try snapshot().object(node)?["to"].targets ?? []
  }

  /// The names of all nodes, in id order.
  func names() throws -> [String] {
    try snapshot().objects(of: "Node").map { node in
      guard case .string(let name) = node["name"] else { throw Mismatch("a node without a name") }
      return name
    }
  }
}
