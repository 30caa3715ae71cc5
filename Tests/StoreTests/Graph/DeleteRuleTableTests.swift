import Annals
import AnnalsEngine
import AnnalsExchange
import AnnalsModel
import AnnalsState
import Foundation
import Testing

private struct NamedNode: Record {
  var name: String
  static let entity = RecordEntity("Node", NamedNode.init, Property("name", \.name).unique())
}

private struct NamedRoot: Record {
  var name: String
  static let entity = RecordEntity("Root", NamedRoot.init, Property("name", \.name).unique())
}

/// Core Data's table of delete rules, case by case: what a deletion of `t` leaves, by rule, by the
/// shape of what refers to it, and by the way in which it is deleted.
@Suite struct DeleteRuleTableTests {
  /// What refers to `t`.
  enum Shape: String, CaseIterable {
    case toOne, required, many, ordered, manyToMany, itself, cycle

    /// What each node refers to, in the order in which they are inserted.
    var graph: KeyValuePairs<String, [String]> {
      switch self {
      case .toOne: ["t": [], "n": ["t"]]
      case .required: ["n": ["t"]]
      case .many: ["t": [], "u": [], "n": ["t", "u"]]
      case .ordered: ["t": [], "u": [], "n": ["t", "u", "t"]]
      case .manyToMany: ["t": [], "u": [], "n": ["t", "u"], "m": ["t"]]
      case .itself: ["t": ["t"]]
      case .cycle: ["t": ["n"], "n": ["m"], "m": ["t"]]
      }
    }

    var isToMany: Bool { self == .many || self == .ordered || self == .manyToMany }

    func relationship(_ rule: DeleteRule) -> Relationship {
      Relationship(
        "to", to: self == .required ? "Root" : "Node", isOptional: self != .required,
        isToMany: isToMany, isOrdered: self == .ordered, onDelete: rule)
    }
  }

  /// How `t` is deleted.
  enum Way: CaseIterable { case closure, condition, context, importing, merge, revert }

  /// What is left, and how many changes the transaction has; nil if it is refused.
  struct Outcome {
    let left: String
    let changes: Int
  }

  /// By shape: keep, nullify, cascade, deny. A reference to what is gone is `†`.
  static let table: [Shape: [Outcome?]] = [
    .toOne: [
      Outcome(left: "n:†", changes: 1), Outcome(left: "n:", changes: 2),
      Outcome(left: "", changes: 2), nil,
    ],
    // Required and nullify exclude each other: see below.
    .required: [
      Outcome(left: "n:†", changes: 1), nil, Outcome(left: "", changes: 2), nil,
    ],
    .many: [
      Outcome(left: "n:†u u:", changes: 1), Outcome(left: "n:u u:", changes: 2),
      Outcome(left: "u:", changes: 2), nil,
    ],
    .ordered: [
      Outcome(left: "n:†u† u:", changes: 1), Outcome(left: "n:u u:", changes: 2),
      Outcome(left: "u:", changes: 2), nil,
    ],
    .manyToMany: [
      Outcome(left: "m:† n:†u u:", changes: 1), Outcome(left: "m: n:u u:", changes: 3),
      Outcome(left: "u:", changes: 3), nil,
    ],
    // What goes with it denies nothing.
    .itself: [
      Outcome(left: "", changes: 1), Outcome(left: "", changes: 1), Outcome(left: "", changes: 1),
      Outcome(left: "", changes: 1),
    ],
    .cycle: [
      Outcome(left: "m:† n:m", changes: 1), Outcome(left: "m: n:m", changes: 2),
      Outcome(left: "", changes: 3), nil,
    ],
  ]

  private static let rules: [DeleteRule] = [.keep, .nullify, .cascade, .deny]

  @Test(arguments: Shape.allCases, 0..<4)
  func whatIsLeft(shape: Shape, rule number: Int) throws {
    let rule = Self.rules[number]
    if shape == .required, rule == .nullify { return }
    for way in Way.allCases {
      // What was changed since it was inserted is no business of a revert of that.
      if way == .revert, shape == .itself || shape == .cycle { continue }
      let comment: Comment = "\(shape), \(rule), \(way)"
      let world = try World(shape, rule)
      let before = try world.text()
      let head = world.store.token.number
      let wanted = Self.table[shape]?[number]
      if let wanted {
        try world.deleteTarget(by: way)
        #expect(try world.text() == wanted.left, comment)
        let changes = try world.store.transaction(world.store.token.number).changes
        #expect(changes.count == wanted.changes, comment)
        #expect(world.store.token.number == head + (way == .merge ? 2 : 1), comment)
        // Undone under the same ids.
        try world.store.revert(world.store.token)
        #expect(try world.text() == before, comment)
      } else {
        let error = #expect(throws: AnnalsError.self, comment) {
          try world.deleteTarget(by: way)
        }
        #expect(error?.code == .invalidChange, comment)
        #expect(error?.violations.first?.property == "to", comment)
        #expect(try world.text() == before, comment)
      }
      #expect(try world.store.problems() == [], comment)
    }
  }

  @Test func aRequiredReferenceCannotBeCleared() {
    let error = #expect(throws: AnnalsError.self) { try World(.required, .nullify) }
    #expect(error?.code == .invalidSchema, "\(error as Any)")
  }

  /// Deny looks at what is there after propagation.
  @Test func denyCountsAfterPropagation() throws {
    let schema = Schema {
      Entity("Node", displayName: "name") {
        Attribute("name", .string, isUnique: true)
        Relationship("owner", to: "Node", onDelete: .cascade)
        Relationship("lender", to: "Node", onDelete: .deny)
      }
    }
    let store = try Store(memoryFile(), schema: schema, environment: .fixed())
    let nodes = try store.nodes(["t", "n", "k"]).map { ObjectReference($0) }
    func id(_ node: ObjectReference) -> ObjectID {
      ObjectID(store: store.token.store, entity: node.entity, row: node.row)
    }
    // n goes with t, and so does not deny that t goes.
    try store.write {
      try $0.update(id(nodes[1]), ["owner": .object(nodes[0]), "lender": .object(nodes[0])])
    }
    try store.write { try $0.delete(id(nodes[0])) }
    #expect(try store.names() == ["k"])
    try store.revert(store.token)
    // But k denies that n goes, and with that all of it.
    try store.write { try $0.update(id(nodes[2]), ["lender": .object(nodes[1])]) }
    #expect(throws: AnnalsError.self) { try store.write { try $0.delete(id(nodes[0])) } }
    #expect(try store.names() == ["t", "n", "k"])
    try store.write { tx in
      try tx.delete(id(nodes[2]))
      try tx.delete(id(nodes[0]))
    }
    #expect(try store.names() == [])
    #expect(try store.problems() == [])
  }
}

/// A store with one shape, and its objects by name.
private struct World {
  let store: Store
  private let shape: DeleteRuleTableTests.Shape
  private var ids: [String: ObjectID] = [:]
  private var names: [ObjectReference: String] = [:]
  /// The transaction that inserts the target alone.
  private var insertion: Int64 = 0

  init(_ shape: DeleteRuleTableTests.Shape, _ rule: DeleteRule) throws {
    self.shape = shape
    let relationship = shape.relationship(rule)
    let schema = Schema {
      Entity("Root") { Attribute("name", .string, isOptional: false, isUnique: true) }
      Entity("Node") {
        Attribute("name", .string, isOptional: false, isUnique: true)
        Attribute("count", .int64)
        relationship
      }
    }
    store = try Store(memoryFile(), schema: schema, environment: .fixed())
    let target = try store.write {
      try $0.insert(shape == .required ? "Root" : "Node", ["name": "t"])
    }
    insertion = store.token.number
    ids["t"] = target
    for (name, _) in shape.graph where name != "t" {
      let values: [String: Value] =
        shape == .required ? ["to": .object(ObjectReference(target))] : [:]
      ids[name] = try store.write {
        try $0.insert("Node", values.merging(["name": .string(name)]) { $1 })
      }
    }
    for (name, id) in ids { names[ObjectReference(id)] = name }
    let ids = ids
    try store.write { tx in
      for (name, targets) in shape.graph where !targets.isEmpty {
        let references = targets.compactMap { ids[$0].map { ObjectReference($0) } }
        let value: Value = shape.isToMany ? .objects(references) : .object(references[0])
        if let id = ids[name] { try tx.update(id, ["to": value]) }
      }
    }
  }

  /// Each node that is left, with what it refers to.
  func text() throws -> String {
    let snapshot = store.snapshot()
    var lines: [String] = []
    let left = Set(try snapshot.objects(of: "Node").map { ObjectReference($0.objectID) })
    let property = try #require(snapshot.schema.entity(named: "Node")?.propertyNumber(named: "to"))
    let roots = Set(try snapshot.objects(of: "Root").map { ObjectReference($0.objectID) })
    for node in left {
      let value = try AnnalsError.translating {
        try snapshot.reader.state.value(node.entity, node.row, property)
      }
      let targets = value.targets.map {
        left.contains($0) || roots.contains($0) ? names[$0] ?? "?" : "†"
      }
      lines.append("\(names[node] ?? "?"):\(targets.joined())")
    }
    return lines.sorted().joined(separator: " ")
  }

  func deleteTarget(by way: DeleteRuleTableTests.Way) throws {
    guard let target = ids["t"] else { return }
    switch way {
    case .closure: try store.write { try $0.delete(target) }
    case .condition:
      try store.write { tx in
        let count =
          shape == .required
          ? try tx.delete(NamedRoot.self, where: \.name == "t")
          : try tx.delete(NamedNode.self, where: \.name == "t")
        #expect(count == 1)
      }
    case .context:
      let form = try EditingContext(store)
      try form.delete(target)
      try form.save()
    case .importing:
      let entity = shape == .required ? "Root" : "Node"
      var lines = [
        Data(#"{"changes":[{"op":"delete","entity":"\#(entity)","id":"t"}]}"#.utf8)
      ]
      try store.import { lines.popLast() }
    case .merge:
      let seen = store.token
      try store.write { tx in
        if let other = ids["n"] ?? ids["t"] { try tx.update(other, ["count": 1]) }
      }
      try store.write(basedOn: seen, merging: .ownWins) { try $0.delete(target) }
    case .revert:
      try store.revert(insertion)
    }
  }
}
