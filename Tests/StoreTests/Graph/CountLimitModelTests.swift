import Annals
import AnnalsModel
import AnnalsTestSupport
import Testing

/// Random graphs whose lists have limits, against a naive model: writes, merges, reverts.
@Suite struct CountLimitModelTests {
  @Test(arguments: 1...6) func limitsAreThoseOfTheNaiveModel(_ seed: Int) throws {
    var run = try LimitedRun(seed: UInt64(seed))
    for _ in 0..<150 { try run.step() }
    try run.end()
  }
}

/// All nodes by row, each with what it refers to.
private struct LimitedGraph: Equatable {
  typealias Node = [String: [Int64]]

  static let rules: [(name: String, rule: DeleteRule, count: ClosedRange<Int>)] = [
    ("tags", .nullify, 1...3), ("parts", .cascade, 0...2), ("pair", .nullify, 0...1),
  ]

  var nodes: [Int64: Node] = [:]

  /// Does what the delete rules say of the nodes that are gone.
  mutating func follow() {
    while true {
      var next = self
      for (row, node) in nodes {
        for (name, rule, _) in LimitedGraph.rules {
          let targets = node[name] ?? []
          let left = targets.filter { nodes[$0] != nil }
          if left.count == targets.count { continue }
          if rule == .cascade { next.nodes[row] = nil } else { next.nodes[row]?[name] = left }
        }
      }
      if next == self { return }
      self = next
    }
  }

  /// The relationships that are beyond their limits, as `row.name`, by row.
  var beyond: [String] {
    nodes.keys.sorted().flatMap { row in
      LimitedGraph.rules.filter { !$0.count.contains(nodes[row]?[$0.name]?.count ?? 0) }
        .map { "\(row).\($0.name)" }
    }
  }
}

private struct LimitedRun {
  private let file = memoryFile()
  private var store: Store
  private var random: SeededRandom
  private var graph = LimitedGraph()
  private var refusals = 0
  private var writes = 0

  init(seed: UInt64) throws {
    random = SeededRandom(seed: seed)
    let relationships = LimitedGraph.rules.map {
      Relationship($0.name, to: "Node", isToMany: true, onDelete: $0.rule, count: $0.count)
    }
    let schema = Schema {
      Entity("Node") {
        Attribute("count", .int64)
        for relationship in relationships { relationship }
      }
    }
    store = try Store(file, schema: schema, environment: .fixed(seed: seed))
  }

  mutating func step() throws {
    switch random.below(12) {
    case 0:
      try store.close()
      store = try Store(file, environment: .fixed())
    case 1, 2: try mergeOrRevert()
    default: try write()
    }
    let found = try read()
    try demand(found == graph, "\(store.token.number): \(found.nodes), not \(graph.nodes)")
    try demand(graph.beyond.isEmpty, "\(graph.beyond) are beyond their limits")
  }

  func end() throws {
    let problems = try store.problems()
    try demand(problems.isEmpty, "\(problems)")
    try demand(refusals > 15 && writes > 30, "\(refusals) refusals, \(writes) writes")
  }

  private func read() throws -> LimitedGraph {
    var graph = LimitedGraph()
    for object in try store.snapshot().objects(of: "Node") {
      var node: LimitedGraph.Node = [:]
      for (name, _, _) in LimitedGraph.rules { node[name] = object[name].targets.map(\.row) }
      graph.nodes[object.objectID.row] = node
    }
    return graph
  }

  private func id(_ row: Int64) -> ObjectID {
    ObjectID(store: store.token.store, entity: 1, row: row)
  }

  /// Makes some changes in a transaction and in the naive graph.
  private static func edit(
    _ tx: WriteTransaction, _ graph: inout LimitedGraph, _ random: inout SeededRandom,
    of run: LimitedRun
  ) throws {
    for _ in 0...random.below(3) {
      let rows = graph.nodes.keys.sorted()
      func targets(_ most: Int) -> [Int64] {
        Array(rows.filter { graph.nodes[$0] != nil }.shuffled(using: &random).prefix(most)).sorted()
      }
      if rows.count < 4 || random.below(3) == 0 {
        let id = try tx.insert("Node", ["count": 0])
        // The first refers to itself.
        var tags = targets(1 + random.below(3))
        if tags.isEmpty { tags = [id.row] }
        try tx.update(id, ["tags": value(tags, of: run)])
        graph.nodes[id.row] = ["tags": tags, "parts": [], "pair": []]
        continue
      }
      let row = rows[random.below(rows.count)]
      if random.below(4) == 0 {
        try tx.delete(run.id(row))
        graph.nodes[row] = nil
        continue
      }
      let (name, _, count) = LimitedGraph.rules[random.below(LimitedGraph.rules.count)]
      let list = targets(random.below(count.upperBound + 2))
      try tx.update(run.id(row), [name: value(list, of: run)])
      graph.nodes[row]?[name] = list
    }
  }

  private static func value(_ rows: [Int64], of run: LimitedRun) -> Value {
    rows.isEmpty ? .null : .objects(rows.map { ObjectReference(run.id($0)) })
  }

  private mutating func write() throws {
    var wanted = graph
    var random = random
    let run = self
    do {
      try store.write { try LimitedRun.edit($0, &wanted, &random, of: run) }
      wanted.follow()
      try demand(wanted.beyond.isEmpty, "\(wanted.beyond) should have been refused")
      graph = wanted
      writes += 1
    } catch let error as AnnalsError {
      try demand(error.code == .invalidChange, "\(error)")
      wanted.follow()
      let told = error.violations.map { "\($0.object?.row ?? 0).\($0.property)" }
      try demand(told.sorted() == wanted.beyond.sorted(), "\(told), not \(wanted.beyond)")
      refusals += 1
    }
    self.random = random
  }

  /// Whatever a merge or a revert leaves is within the limits, as `step` sees.
  private mutating func mergeOrRevert() throws {
    let number = max(1, store.token.number - Int64(random.below(4)))
    var random = random
    let run = self
    do {
      if random.below(2) == 0 {
        let policy = MergePolicy.allCases[random.below(5)]
        let token = try store.snapshot(at: number).token
        try store.write(basedOn: token, merging: policy) { tx in
          var own = LimitedGraph()
          for object in try tx.objects(of: "Node") { own.nodes[object.objectID.row] = [:] }
          try LimitedRun.edit(tx, &own, &random, of: run)
        }
      } else {
        try store.revert(number)
      }
    } catch let error as AnnalsError {
      try demand(
        [.conflict, .invalidChange, .unsupported].contains(error.code), "\(error)")
    }
    self.random = random
    graph = try read()
  }
}
