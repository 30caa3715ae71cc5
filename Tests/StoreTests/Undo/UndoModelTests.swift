import Annals
import AnnalsEngine
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import AnnalsExchange

/// Random histories of three authors, with groups, every delete rule, undo, redo, reverts, merges,
/// prunes, reopening and copies, against the naive stacks.
@Suite struct UndoModelTests {
  @Test(arguments: 1...8) func theStacksAreTheNaiveOnes(_ seed: Int) throws {
    var run = try UndoRun(seed: UInt64(seed))
    for _ in 0..<140 { try run.step() }
    try run.end()
  }

  /// What an author did that nobody wrote over can be undone altogether, and redone.
  @Test(arguments: 1...6) func withoutTheAuthor(_ seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let both = try UndoRun.store(memoryFile())
    let alone = try UndoRun.store(memoryFile())
    for step in 0..<60 {
      let author = random.below(2) == 0 ? "ann" : "ben"
      let group = random.below(3) == 0 ? "g" : nil
      for store in author == "ann" ? [both] : [both, alone] {
        var copy = random
        do {
          try store.write(author: author, group: group) {
            try UndoRun.edit($0, author, step, &copy)
          }
        } catch let error as AnnalsError {
          #expect(error.code == .invalidChange)
        }
      }
      _ = random.next()
    }
    let full = try UndoRun.canonical(both)
    var count = 0
    while !(try both.undoable(author: "ann", limit: 1).isEmpty) {
      try both.undo(author: "ann")
      count += 1
    }
    #expect(count > 10)
    let (found, wanted) = (try UndoRun.canonical(both), try UndoRun.canonical(alone))
    let lines = Set(found.split(separator: "\n")).symmetricDifference(wanted.split(separator: "\n"))
    #expect(found == wanted, "\(lines.map { $0.prefix(300) })")
    for _ in 0..<count { try both.redo(author: "ann") }
    #expect(try UndoRun.canonical(both) == full)
    #expect(try both.problems().isEmpty)
  }
}

private struct UndoRun {
  private var file = memoryFile()
  private var store: Store
  private var random: SeededRandom
  private var stacks: [String: NaiveStacks] = [:]
  private var stepCount = 0
  private var counts: [String: Int] = [:]
  private var log: [String] = []

  private static let authors = ["ann", "ben", "cleo"]
  private static let relationships: [(name: String, rule: DeleteRule, isToMany: Bool)] = [
    ("owner", .cascade, false), ("friend", .nullify, false), ("lender", .deny, false),
    ("parts", .cascade, true), ("tags", .nullify, true), ("old", .keep, false),
  ]

  static func store(_ location: StoreLocation) throws -> Store {
    let relationships = relationships.map {
      Relationship($0.name, to: "Node", isToMany: $0.isToMany, onDelete: $0.rule)
    }
    let schema = Schema {
      Entity("Node") {
        Attribute("id", .string, isOptional: false, isUnique: true)
        Attribute("count", .int64)
        Attribute("text", .string)
        for relationship in relationships { relationship }
      }
    }
    return try Store(location, schema: schema, environment: .fixed(seed: 1))
  }

  init(seed: UInt64) throws {
    random = SeededRandom(seed: seed)
    store = try UndoRun.store(file)
    for author in UndoRun.authors { stacks[author] = NaiveStacks() }
  }

  static func canonical(_ store: Store) throws -> String { try canonical(store.snapshot()) }

  private static func canonical(_ snapshot: Snapshot) throws -> String {
    var text = ""
    try snapshot.export { text += String(decoding: $0, as: UTF8.self) }
    return text
  }

  /// Makes some changes of an author's own nodes; without an author, of all.
  static func edit(
    _ tx: WriteTransaction, _ author: String?, _ step: Int, _ random: inout SeededRandom
  ) throws {
    for number in 0...random.below(3) {
      let nodes = try tx.objects(of: "Node").filter { node in
        guard let author, case .string(let id) = node["id"] else { return true }
        return id.hasPrefix(author)
      }
      guard nodes.count > 3, random.below(4) > 0 else {
        let id = "\(author ?? "node") \(step) \(number)"
        try tx.insert("Node", ["id": .string(id), "count": .int(Int64(number))])
        continue
      }
      let node = nodes[random.below(nodes.count)]
      switch random.below(8) {
      case 0: try tx.delete(node.objectID)
      case 1...3: try tx.update(node.objectID, ["count": .int(Int64(random.below(5)))])
      case 4:
        let text = String(repeating: "\(step) ", count: random.below(3) == 0 ? 2_000 : 1)
        try tx.update(node.objectID, ["text": .string(text)])
      default:
        // What dangles is told by its row, which depends on others' inserts.
        let count = relationships.count - (author == nil ? 0 : 1)
        let (name, _, isToMany) = relationships[random.below(count)]
        let targets = nodes.shuffled(using: &random).prefix(isToMany ? random.below(4) : 1)
          .map { ObjectReference($0.objectID) }
        let value: Value = isToMany ? .objects(targets.sorted()) : .object(targets[0])
        try tx.update(node.objectID, [name: targets.isEmpty ? .null : value])
      }
    }
  }

  mutating func step() throws {
    stepCount += 1
    let author = UndoRun.authors[random.below(3)]
    switch random.below(20) {
    case 0: try reopen()
    case 1: try prune()
    case 2: try copy()
    case 3: try revert(author)
    case 4...5: try merge(author)
    case 6...10: try take(.undo, author)
    case 11...12:
      // Of whom there is something to redo, if there is anyone.
      let able = UndoRun.authors.filter { stacks[$0]?.undone.isEmpty == false }
      try take(.redo, able.randomElement(using: &random) ?? author)
    default: try write(author)
    }
    try compare(store, "\(log.suffix(8))")
  }

  mutating func end() throws {
    try reopen()
    try compare(store, "the end")
    for what in ["undo", "undo refused", "undo by policy", "copy", "revert", "merge"] {
      try demand(counts[what, default: 0] > 0, "no \(what) in \(counts)")
    }
    let redos = counts["redo", default: 0] + counts["redo by policy", default: 0]
    try demand(redos > 0, "no redo in \(counts)")
  }

  /// The store has the stacks, whichever file it is in.
  private func compare(_ store: Store, _ place: String) throws {
    for author in UndoRun.authors {
      let wanted = stacks[author] ?? NaiveStacks()
      let done = try store.undoable(author: author, limit: .max)
      let undone = try store.redoable(author: author, limit: .max)
      for (found, wanted) in [(done, wanted.done), (undone, wanted.undone)] {
        let steps = wanted.reversed().map {
          "\($0.group ?? "-") \($0.numbers[0])...\($0.numbers.last ?? 0) \($0.numbers.count)"
        }
        let have = found.map { "\($0.group ?? "-") \($0.numbers) \($0.count)" }
        try demand(have == steps, "\(place): \(author) has \(have), not \(steps)")
      }
    }
  }

  private mutating func count(_ what: String) {
    counts[what, default: 0] += 1
    log.append("\(store.token.number) \(what)")
  }

  private mutating func write(_ author: String) throws {
    let group = [nil, "g", "h"][random.below(3)]
    try record(author, group, "write \(author) \(group ?? "-")") { store, random, step in
      try store.write(author: author, group: group) { try UndoRun.edit($0, nil, step, &random) }
    }
  }

  /// Runs a write, which may be refused, and notes it.
  private mutating func record(
    _ author: String, _ group: String?, _ what: String,
    _ body: (Store, inout SeededRandom, Int) throws -> Void
  ) throws {
    let before = store.token.number
    do {
      try body(store, &random, stepCount)
    } catch let error as AnnalsError {
      let codes: [AnnalsError.Code] = [.invalidChange, .conflict, .erased, .unsupported]
      try demand(codes.contains(error.code), "\(what): \(error)")
      try demand(store.token.number == before, "\(what) left a trace")
    }
    count(what)
    if store.token.number > before { stacks[author]?.write(store.token.number, group) }
  }

  private mutating func merge(_ author: String) throws {
    let group = [nil, "g"][random.below(2)]
    let policy = MergePolicy.allCases[random.below(5)]
    let back = Int64(random.below(4))
    let number = max(store.base.number + 1, store.token.number - back)
    guard number <= store.token.number else { return }
    try record(author, group, "merge") { store, random, step in
      let token = try store.token(at: number)
      try store.write(author: author, group: group, basedOn: token, merging: policy) {
        try UndoRun.edit($0, nil, step, &random)
      }
    }
  }

  private mutating func revert(_ author: String) throws {
    let number = store.token.number - Int64(random.below(4))
    guard number > store.base.number + 1 else { return }
    try record(author, nil, "revert") { store, _, _ in try store.revert(number, author: author) }
  }

  private mutating func take(_ direction: UndoDirection, _ author: String) throws {
    let policy = random.below(3) == 0 ? MergePolicy.allCases[random.below(5)] : nil
    let before = try UndoRun.canonical(store)
    let head = store.token.number
    let stack = stacks[author] ?? NaiveStacks()
    let top = direction == .undo ? stack.done.last : stack.undone.last
    do {
      let plan = try? store.plan(direction, author, policy)
      let commit = try store.take(direction, author, policy)
      guard let top, let first = top.numbers.first, let last = top.numbers.last else {
        throw Mismatch("\(direction) by \(author) of nothing")
      }
      try demand(
        commit.value.numbers == first...last, "\(direction) of \(commit.value), not \(top)")
      try demand(store.token.number == head + 1, "no transaction of its own")
      let transaction = try store.transaction(head + 1)
      try demand(
        transaction.undo == direction.record(of: commit.value) && transaction.author == author,
        "\(transaction.undo) of \(commit.value)")
      let found = Array(transaction.changes).reduce(into: [0, 0, 0]) {
        $0[Int($1.kind.rawValue)] += 1
      }
      try demand(
        plan.map { [$0.revivals, $0.updates, $0.deletions] } == found, "\(found), not as planned")
      // If nothing came in between, the state is that before the step.
      if Int(head - first) + 1 == top.numbers.count, first > store.base.number {
        let old = try UndoRun.canonical(store.snapshot(at: first - 1))
        try demand(try UndoRun.canonical(store) == old, "undoing \(top) gives another state")
      }
      note(direction, author)
      count(policy == nil ? "\(direction)" : "\(direction) by policy")
      guard policy == nil, random.below(2) == 0 else { return }
      // There and back again.
      let back: UndoDirection = direction == .undo ? .redo : .undo
      _ = try store.take(back, author, nil)
      note(back, author)
      try demand(
        try UndoRun.canonical(store) == before, "\(direction) and \(back) change the state")
    } catch let error as AnnalsError {
      try demand(store.token.number == head, "\(error) left a trace")
      try demand(try UndoRun.canonical(store) == before, "\(error) left a trace")
      switch error.code {
      case .nothingToUndo, .pruned:
        try demand(top == nil, "\(error), not \(String(describing: top))")
      case .conflict, .invalidChange: try demand(top != nil, "\(error)")
      default: throw error
      }
      count(top == nil ? "nothing to \(direction)" : "\(direction) refused")
    }
  }

  private mutating func note(_ direction: UndoDirection, _ author: String) {
    if direction == .undo {
      stacks[author]?.undo(store.token.number)
    } else {
      stacks[author]?.redo(store.token.number)
    }
  }

  private mutating func reopen() throws {
    try store.close()
    store = try Store(file, environment: .fixed())
    let problems = try store.problems()
    try demand(problems.isEmpty, "\(problems)")
  }

  private mutating func prune() throws {
    let number = store.token.number - Int64(random.below(40))
    guard number > store.base.number + 1 else { return }
    try store.prune(store.prunePlan(before: number))
    for author in UndoRun.authors { stacks[author]?.prune(through: store.base.number) }
    count("prune")
  }

  /// A replay and an import have the same stacks; the run goes on in one of them now and then.
  private mutating func copy() throws {
    let folder = try TemporaryFolder()
    try store.export(to: folder.path("a.jsonl"))
    try Store.import(from: folder.path("a.jsonl"), to: folder.path("b.annals"))
    let imported = try Store(path: folder.path("b.annals"), options: .readOnly)
    try compare(imported, "imported")
    try demand(try UndoRun.canonical(imported) == UndoRun.canonical(store), "imported otherwise")
    let other = StoreLocation(fileSystem: file.fileSystem, path: "/copy \(stepCount).annals")
    try store.replay(to: other.path, at: store.token.number)
    let copy = try Store(other, environment: .fixed())
    try compare(copy, "replayed")
    try demand(try copy.problems().isEmpty, "replayed with problems")
    if random.below(3) == 0 {
      try store.close()
      (store, file) = (copy, other)
    } else {
      try copy.close()
      try other.fileSystem.remove(other.path)
    }
    count("copy")
  }
}

extension Store {
  fileprivate func take(
    _ direction: UndoDirection, _ author: String, _ policy: MergePolicy?
  ) throws -> Commit<UndoStep> {
    direction == .undo
      ? try undo(author: author, merging: policy) : try redo(author: author, merging: policy)
  }

  fileprivate func plan(
    _ direction: UndoDirection, _ author: String, _ policy: MergePolicy?
  ) throws -> UndoPlan {
    direction == .undo
      ? try undoPlan(author: author, merging: policy)
      : try redoPlan(author: author, merging: policy)
  }
}
