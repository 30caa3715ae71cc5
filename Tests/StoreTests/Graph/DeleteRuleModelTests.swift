import Annals
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

/// Random graphs with every rule, against a naive model: writes, merges, past states, reopening.
@Suite struct DeleteRuleModelTests {
  @Test(arguments: 1...8) func rulesAreThoseOfTheNaiveModel(_ seed: Int) throws {
    var run = try GraphRun(seed: UInt64(seed))
    for _ in 0..<150 { try run.step() }
    try run.end()
  }
}

/// All nodes by row, each with what it refers to.
private struct NaiveGraph: Equatable {
  typealias Node = [String: [Int64]]

  static let rules: [(name: String, rule: DeleteRule, isToMany: Bool)] = [
    ("owner", .cascade, false), ("friend", .nullify, false), ("lender", .deny, false),
    ("parts", .cascade, true), ("tags", .nullify, true),
  ]

  var nodes: [Int64: Node] = [:]

  /// Does what the rules say of the nodes that are gone. Returns whether nothing is denied.
  mutating func follow() -> Bool {
    while true {
      var next = self
      for (row, node) in nodes {
        for (name, rule, _) in NaiveGraph.rules {
          let targets = node[name] ?? []
          let left = targets.filter { nodes[$0] != nil }
          if left.count == targets.count { continue }
          if rule == .cascade { next.nodes[row] = nil }
          if rule == .nullify { next.nodes[row]?[name] = left.isEmpty ? nil : left }
        }
      }
      if next == self { break }
      self = next
    }
    return dangling.isEmpty
  }

  /// The nodes that refer to one that is gone.
  var dangling: [Int64] {
    nodes.filter { $0.value.values.contains { $0.contains { nodes[$0] == nil } } }.keys.sorted()
  }
}

private struct GraphRun {
  private let file = memoryFile()
  private var store: Store
  private var random: SeededRandom
  /// The graph after each transaction.
  private var graphs: [Int64: NaiveGraph] = [:]
  private var graph = NaiveGraph()
  private var entity: EntityNumber = 1

  init(seed: UInt64) throws {
    random = SeededRandom(seed: seed)
    let relationships = NaiveGraph.rules.map {
      Relationship($0.name, to: "Node", isToMany: $0.isToMany, onDelete: $0.rule)
    }
    let schema = Schema {
      Entity("Node") {
        Attribute("count", .int64)
        for relationship in relationships { relationship }
      }
    }
    store = try Store(file, schema: schema, environment: .fixed(seed: seed))
    graphs[store.token.number] = graph
  }

  mutating func step() throws {
    switch random.below(10) {
    case 0: try reopen()
    case 1...3: try merge()
    default: try write()
    }
    try comparePast()
  }

  mutating func end() throws {
    try reopen()
    try demand(graphs.count > 60, "only \(graphs.count) transactions")
    for number in graphs.keys { try compare(number) }
  }

  private mutating func reopen() throws {
    try store.close()
    store = try Store(file, environment: .fixed())
    let problems = try store.problems()
    try demand(problems.isEmpty, "\(problems)")
  }

  private func comparePast() throws {
    try compare(store.token.number)
    var random = random
    if let number = graphs.keys.randomElement(using: &random) { try compare(number) }
  }

  private func compare(_ number: Int64) throws {
    let found = try GraphRun.graph(store.snapshot(at: number))
    let wanted = graphs[number] ?? NaiveGraph()
    try demand(found == wanted, "as of \(number): \(found.nodes), not \(wanted.nodes)")
  }

  private static func graph(_ snapshot: Snapshot) throws -> NaiveGraph {
    var graph = NaiveGraph()
    for object in try snapshot.objects(of: "Node") {
      var node: NaiveGraph.Node = [:]
      for (name, _, _) in NaiveGraph.rules {
        let targets = object[name].targets.map(\.row)
        if !targets.isEmpty { node[name] = targets }
      }
      graph.nodes[object.objectID.row] = node
    }
    return graph
  }

  private func id(_ row: Int64) -> ObjectID {
    ObjectID(store: store.token.store, entity: entity, row: row)
  }

  /// Makes some changes in a transaction and in the naive graph.
  private static func edit(
    _ tx: WriteTransaction, _ graph: inout NaiveGraph, _ random: inout SeededRandom,
    of run: GraphRun
  ) throws {
    for _ in 0...random.below(4) {
      let rows = graph.nodes.keys.sorted()
      guard rows.count > 3, random.below(4) > 0 else {
        graph.nodes[try tx.insert("Node", ["count": 0]).row] = [:]
        continue
      }
      let row = rows[random.below(rows.count)]
      if random.below(5) == 0 {
        try tx.delete(run.id(row))
        graph.nodes[row] = nil
        continue
      }
      let (name, _, isToMany) = NaiveGraph.rules[random.below(NaiveGraph.rules.count)]
      var targets = rows.shuffled(using: &random).filter { graph.nodes[$0] != nil }
      targets = Array(targets.prefix(isToMany ? random.below(4) : random.below(2)))
      if isToMany { targets.sort() }
      let references = targets.map { ObjectReference(run.id($0)) }
      let value = isToMany ? Value.objects(references) : references.first.map(Value.object)
      try tx.update(run.id(row), [name: targets.isEmpty ? .null : value ?? .null])
      graph.nodes[row]?[name] = targets.isEmpty ? nil : targets
    }
  }

  private mutating func write() throws {
    let before = store.token.number
    var wanted = graph
    var random = random
    let run = self
    do {
      try store.write { try GraphRun.edit($0, &wanted, &random, of: run) }
      try demand(wanted.follow(), "\(wanted.dangling) should have been denied")
      graph = wanted
    } catch let error as AnnalsError {
      try demand(error.code == .invalidChange && !wanted.follow(), "\(error)")
    }
    self.random = random
    if store.token.number > before { graphs[store.token.number] = graph }
  }

  /// A write on an earlier state. Whatever the policy, nothing dangles; with a policy for the
  /// stored side nothing that others made or changed since is gone.
  private mutating func merge() throws {
    let numbers = graphs.keys.sorted().suffix(4)
    guard let number = numbers.randomElement(using: &random), let base = graphs[number] else {
      return
    }
    let policy = MergePolicy.allCases[random.below(5)]
    let place = "\(policy) of \(store.token.number) on \(number)"
    var own = base
    var random = random
    let run = self
    do {
      let token = try store.snapshot(at: number).token
      try store.write(basedOn: token, merging: policy) {
        try GraphRun.edit($0, &own, &random, of: run)
      }
    } catch let error as AnnalsError {
      try demand([.conflict, .invalidChange].contains(error.code), "\(place): \(error)")
    }
    self.random = random
    let merged = try GraphRun.graph(store.snapshot())
    try demand(merged.dangling.isEmpty, "\(place): \(merged.dangling) dangle: \(merged.nodes)")
    if policy == .storedWins || policy == .rollBack {
      for (row, node) in graph.nodes where base.nodes[row] != node {
        try demand(merged.nodes[row] != nil, "\(place): \(row), which others changed, is gone")
      }
    }
    if policy.keepsOwnSide {
      for row in base.nodes.keys where own.nodes[row] == nil && merged != graph {
        try demand(merged.nodes[row] == nil, "\(place): \(row), which the write deleted, is there")
      }
    }
    graph = merged
    graphs[store.token.number] = graph
  }
}

extension MergePolicy {
  fileprivate var keepsOwnSide: Bool { self == .ownWins || self == .overwrite }
}
