import Annals
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import AnnalsExchange

/// Random graphs with derived attributes of every kind, against a naive computation: writes,
/// deletions by rules that cascade, clear and deny, merges, reverts, undo, imports of exports and
/// of lines, past states, reopening.
@Suite struct DerivedModelTests {
  @Test(arguments: 1...8) func valuesAreThoseOfTheNaiveComputation(_ seed: Int) throws {
    var run = try DerivedRun(seed: UInt64(seed))
    for _ in 0..<120 { try run.step() }
    try run.end()
  }
}

private struct DerivedRun {
  private var file = memoryFile()
  private var store: Store
  private var random: SeededRandom
  private let seed: UInt64
  private var copies = 0
  /// The row of the first object of the last line that was imported.
  private var importedRow: Int64 = 10_000

  static let schema = Schema {
    Entity("Node") {
      Attribute("name", .string, isOptional: false, default: "")
      Attribute("amount", .int64)
      Attribute("weight", .double)
      Attribute("day", .date)
      Attribute("key", .string, isOptional: false, default: "", derived: .normalized("name"))
      Attribute("children", .int64, derived: .count("kids"))
      Attribute("sum", .int64, isOptional: false, default: 0, derived: .sum("kids", of: "amount"))
      Attribute("heavy", .double, derived: .sum("parts", of: "weight"))
      Attribute("least", .date, derived: .minimum("kids", of: "day"))
      Attribute("most", .int64, derived: .maximum("parts", of: "amount"))
      Attribute("mean", .double, derived: .average("whole", of: "weight"))
      Attribute("size", .int64, derived: .count("parts"))
      // Of a derived attribute, of other objects.
      Attribute("deep", .int64, derived: .sum("parts", of: "sum"))
      Attribute("deepest", .int64, derived: .maximum("kids", of: "deep"))
      Attribute("pledged", .int64, derived: .count("pledges"))
      Relationship("owner", to: "Node", onDelete: .cascade, inverse: "kids")
      Relationship("lender", to: "Node", onDelete: .deny, inverse: "pledges")
      Relationship("parts", to: "Node", isToMany: true, isOrdered: true, onDelete: .keep)
      Relationship(
        "wholes", to: "Node", isToMany: true, onDelete: .nullify, inverse: "whole")
      IndexDescription("byChildren", [IndexElement("children")])
    }
  }

  init(seed: UInt64) throws {
    self.seed = seed
    random = SeededRandom(seed: seed)
    store = try Store(file, schema: DerivedRun.schema, environment: .fixed(seed: seed))
  }

  mutating func step() throws {
    switch random.below(14) {
    case 0: try reopen()
    case 1, 2: try merge()
    case 3: try attempt { try $0.revert($0.token.number) }
    case 4: try attempt { _ = try $0.undo(author: "ann") }
    case 5: try attempt { _ = try $0.redo(author: "ann") }
    case 6: try goOnInACopy()
    case 7: try importLine()
    default:
      var random = random
      try attempt { try $0.write(author: "ann") { try DerivedRun.edit($0, &random) } }
      self.random = random
    }
    try compare(store.snapshot())
    var random = random
    let number = 1 + Int64(random.below(Int(store.token.number)))
    try compare(store.snapshot(at: number))
  }

  mutating func end() throws {
    try reopen()
    try demand(store.token.number > 40, "only \(store.token.number) transactions")
    try demand(copies > 2, "only \(copies) copies")
  }

  private mutating func reopen() throws {
    try store.close()
    store = try Store(file, schema: DerivedRun.schema, environment: .fixed())
    let problems = try store.problems()
    try demand(problems.isEmpty, "seed \(seed): \(problems)")
  }

  /// Goes on in a store that an export of this one was imported into.
  private mutating func goOnInACopy() throws {
    var bytes: ContiguousArray<UInt8> = []
    var export = HistoryExport(store, after: store.base.number, through: store.token.number)
    try export.write(to: { bytes += $0 })
    file = memoryFile()
    let reading = HistoryImport(
      MemorySource(bytes), into: file, options: .deferred,
      environment: .fixed(seed: seed &+ UInt64(store.token.number)))
    while try reading.next() {}
    let before = try store.snapshot().objects(of: "Node").map(\.dictionary)
    store = try #require(reading.store)
    try demand(store.snapshot().objects(of: "Node").map(\.dictionary) == before, "seed \(seed)")
    copies += 1
  }

  /// Imports a line that gives values of which others are derived.
  private mutating func importLine() throws {
    let number = random.below(100)
    importedRow += 1_000
    let row = #"{"$row":\#(importedRow)}"#
    var changes = [
      #"{"op":"insert","entity":"Node","row":\#(importedRow),"#
        + #""set":{"name":"FOG","amount":\#(number)}}"#
    ]
    if random.below(2) == 0 {
      changes.append(
        #"{"op":"insert","entity":"Node","row":\#(importedRow + 1),"#
          + #""set":{"owner":\#(row),"lender":\#(row),"parts":[\#(row),\#(row)],"amount":3}}"#)
    }
    let line = #"{"changes":[\#(changes.joined(separator: ","))]}"#
    let reading = HistoryImport(MemorySource(Array(line.utf8)), into: store)
    while try reading.next() {}
  }

  /// Conflicts, and rules that deny something, are none of this test's business.
  private func attempt(_ body: (Store) throws -> Void) throws {
    do {
      try body(store)
    } catch let error as AnnalsError {
      let codes: [AnnalsError.Code] = [
        .conflict, .unsupported, .invalidArgument, .invalidChange, .nothingToUndo,
      ]
      try demand(codes.contains(error.code), "seed \(seed): \(error)")
    }
  }

  private mutating func merge() throws {
    let policy = MergePolicy.allCases[random.below(5)]
    let number = max(1, store.token.number - Int64(random.below(4)))
    let token = try store.snapshot(at: number).token
    var random = random
    try attempt {
      try $0.write(basedOn: token, merging: policy) { try DerivedRun.edit($0, &random) }
    }
    self.random = random
  }

  private static func edit(_ tx: WriteTransaction, _ random: inout SeededRandom) throws {
    for _ in 0...random.below(4) {
      let nodes = try tx.objects(of: "Node")
      guard nodes.count > 4, random.below(4) > 0 else {
        _ = try tx.insert("Node", values(nodes, &random))
        continue
      }
      let node = nodes[random.below(nodes.count)]
      if random.below(6) == 0 {
        try tx.delete(node.objectID)
      } else {
        try tx.update(node.objectID, values(nodes, &random))
      }
    }
  }

  private static func values(
    _ nodes: [DynamicObject], _ random: inout SeededRandom
  ) -> [String: Value] {
    let references = nodes.map { ObjectReference($0.objectID) }
    var values: [String: Value] = [:]
    for name in ["name", "amount", "weight", "day", "owner", "lender", "parts", "wholes"]
    where random.below(3) == 0 {
      let some = (0..<random.below(4)).compactMap { _ in references.randomElement(using: &random) }
      let number = random.below(1_000) - 500
      values[name] =
        switch name {
        case "name": .string(["Ärger", "ÉTÉ", "fog", "FOG", ""][random.below(5)])
        case "amount": random.below(4) == 0 ? .null : .int(Int64(number))
        case "weight": random.below(4) == 0 ? .null : .double(Double(number) * 0.1)
        case "day": random.below(4) == 0 ? .null : .date(Timestamp(microseconds: Int64(number)))
        case "owner", "lender": some.first.map(Value.object) ?? .null
        default: some.isEmpty ? .null : .objects(some)
        }
    }
    return values
  }

  // MARK: The naive computation

  private func compare(_ snapshot: Snapshot) throws {
    let nodes = try snapshot.objects(of: "Node")
    let byRow = Dictionary(uniqueKeysWithValues: nodes.map { ($0.objectID.row, $0) })
    for node in nodes {
      let own = ObjectReference(node.objectID)
      let kids = nodes.filter { $0["owner"].targets.contains(own) }
      let whole = nodes.filter { $0["wholes"].targets.contains(own) }
      let parts = node["parts"].targets.compactMap { byRow[$0.row] }
      let wanted: [String: Value] = [
        "key": .string(DerivedRun.keys[node["name"].word] ?? node["name"].word),
        "pledged": .int(Int64(nodes.count { $0["lender"].targets.contains(own) })),
        "children": .int(Int64(kids.count)), "size": .int(Int64(parts.count)),
        "sum": .int(kids.compactMap { $0["amount"].int }.reduce(0, +)),
        "heavy": .double(parts.compactMap { $0["weight"].real }.reduce(0, +)),
        "least": kids.compactMap { $0["day"].day }.min().map { .date($0) } ?? .null,
        "most": parts.compactMap { $0["amount"].int }.max().map { .int($0) } ?? .null,
        "mean": DerivedRun.mean(whole.compactMap { $0["weight"].real }),
        "deep": .int(parts.compactMap { $0["sum"].int }.reduce(0, +)),
        "deepest": kids.compactMap { $0["deep"].int }.max().map { .int($0) } ?? .null,
      ]
      for (name, value) in wanted where !DerivedRun.areClose(node[name], value) {
        throw Mismatch(
          "seed \(seed), as of \(snapshot.token.number): \(node.objectID).\(name) is "
            + "\(node[name]), not \(value)")
      }
    }
  }

  private static let keys = ["Ärger": "arger", "ÉTÉ": "ete", "FOG": "fog"]

  private static func mean(_ numbers: [Double]) -> Value {
    numbers.isEmpty ? .null : .double(numbers.reduce(0, +) / Double(numbers.count))
  }

  /// Sums of doubles are compensated, the naive ones are not.
  private static func areClose(_ a: Value, _ b: Value) -> Bool {
    guard case .double(let x) = a, case .double(let y) = b else { return a == b }
    return abs(x - y) < 1e-9
  }
}

extension Value {
  fileprivate var word: String { if case .string(let text) = self { text } else { "" } }
  fileprivate var int: Int64? { if case .int(let number) = self { number } else { nil } }
  fileprivate var real: Double? { if case .double(let number) = self { number } else { nil } }
  fileprivate var day: Timestamp? { if case .date(let day) = self { day } else { nil } }
}
