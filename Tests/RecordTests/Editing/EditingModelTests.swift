import Annals
import AnnalsModel
import AnnalsTestSupport
import Testing

/// Random edits, undos, saves, refreshes and children against a naive model: dictionaries of nodes,
/// copied for each step.
@Suite struct EditingModelTests {
  @MainActor @Test(arguments: 1...24 as ClosedRange<UInt64>)
  func agreesWithAModel(seed: UInt64) throws {
    var run = try EditingRun(seed: seed)
    for step in 1...120 {
      do {
        try run.step()
        try run.compare()
      } catch {
        Issue.record("seed \(seed), step \(step), \(run.trail): \(error)")
        return
      }
    }
    try run.finish()
  }
}

/// Random edits beside others of the same objects: whatever the policy, nothing dangles, and the
/// context shows what the store has.
@Suite struct EditingBesideOthersTests {
  @Test(arguments: 1...24 as ClosedRange<UInt64>)
  func leavesAWholeGraph(seed: UInt64) throws {
    var run = try EditingBesideOthers(seed: seed)
    for round in 1...12 {
      try run.edit()
      let isSame = try run.save()
      let problems = try run.store.problems()
      guard isSame, problems.isEmpty else {
        Issue.record(
          "seed \(seed), round \(round): same: \(isSame), \(problems), \(run.trail)")
        return
      }
    }
  }
}

private struct EditingBesideOthers {
  let store: Store
  let form: EditingContext
  private(set) var trail: [String] = []
  private var random: SeededRandom

  init(seed: UInt64) throws {
    random = SeededRandom(seed: seed)
    store = try Store(.memory, records: Node.self)
    try store.write { tx in for number in 1...8 { try tx.insert(Node("n\(number)")) } }
    form = try EditingContext(store)
  }

  /// Edits in a context, a child of it, and beside them.
  mutating func edit() throws {
    trail = []
    if random.below(2) == 0 { note("undo", try form.undo()) }
    for _ in 0...random.below(5) { try edit(form, "form") }
    let child = form.child()
    for _ in 0...random.below(3) { try edit(child, "child") }
    if random.below(2) == 0 { try edit(form, "form") }
    let childPolicy = policy()
    note(
      "child saved, \(childPolicy.map { "\($0)" } ?? "-")", try? child.save(merging: childPolicy))
    for _ in 0..<random.below(4) {
      try store.write { try edit($0, "others") }
      guard random.below(3) == 0 else { continue }
      let policy = policy()
      note("refresh \(policy.map { "\($0)" } ?? "-")", try? form.refresh(merging: policy))
    }
    if random.below(3) == 0 { note("undo", try form.undo()) }
  }

  /// Saves, and returns whether the context shows what the store has.
  mutating func save() throws -> Bool {
    let policy = policy()
    do {
      note("save \(policy.map { "\($0)" } ?? "-")", try form.save(merging: policy))
    } catch let error as AnnalsError where [.conflict, .invalidChange].contains(error.code) {
      // A refused save leaves all as it was.
      note("refused", error.code)
      form.rollback()
    }
    return try form.model() == store.model()
  }

  private mutating func note(_ what: String, _ result: Any?) {
    trail.append(result == nil ? "\(what): no" : what)
  }

  private mutating func policy() -> MergePolicy? {
    [nil, .error, .ownWins, .storedWins, .overwrite, .rollBack][random.below(6)]
  }

  private mutating func edit(_ form: EditingContext, _ who: String) throws {
    try form.edit { try edit($0, who) }
  }

  private mutating func edit(_ tx: WriteTransaction, _ who: String) throws {
    let nodes = try tx.objects(of: Node.self)
    guard let node = nodes.randomElement(using: &random),
      let other = nodes.randomElement(using: &random)
    else {
      try tx.insert(Node("n\(random.below(1_000_000))"))
      return
    }
    let what = random.below(6)
    trail.append("\(who) \(what) \(node.id.row) \(other.id.row)")
    switch what {
    case 0, 1: try tx.insert(Node("n\(random.below(1_000_000))", parent: Reference(other)))
    case 2: try tx.set(\Node.count, of: node, to: random.below(50))
    case 3: try tx.set(\Node.parent, of: node, to: Reference(other))
    case 4: try tx.set(\Node.friend, of: node, to: Reference(other))
    default: try tx.delete(node)
    }
  }
}

/// A node as the model has it; others are named by their names, which nothing changes.
private struct ModelNode: Equatable, CustomStringConvertible {
  var count: Int?
  var parent: String?
  var friend: String?

  var description: String {
    "(\(count.map { "\($0)" } ?? "-") in \(parent ?? "-"), likes \(friend ?? "-"))"
  }
}

private typealias ModelNodes = [String: ModelNode]

private struct Difference: Error, CustomStringConvertible {
  let description: String

  init(description: String) { self.description = description }

  init(_ found: ModelNodes, _ wanted: ModelNodes) {
    func text(_ nodes: ModelNodes, without others: ModelNodes) -> String {
      nodes.filter { others[$0.key] != $0.value }.map { "\($0.key) \($0.value)" }.sorted()
        .joined(separator: ", ")
    }
    description = "\(text(found, without: wanted)) instead of \(text(wanted, without: found))"
  }
}

@MainActor private struct EditingRun {
  let store: Store
  let form: EditingContext
  let rows: LiveRows<Object<Node>>
  private var random: SeededRandom
  /// What is pending, and what is saved.
  private var nodes: ModelNodes = [:]
  private var saved: ModelNodes = [:]
  private var undo: [ModelNodes] = []
  private var redo: [ModelNodes] = []
  /// What others have written since the context last looked.
  private var others: ModelNodes = [:]
  private var isTyping: String?
  private var made = 0
  /// What was done, the last at the end.
  private(set) var trail: [String] = []
  private var last: String {
    get { trail.last ?? "" }
    set { trail.append(newValue) }
  }

  init(seed: UInt64) throws {
    random = SeededRandom(seed: seed)
    store = try Store(.memory, records: Node.self)
    form = try EditingContext(store)
    rows = try LiveRows(Fetch(Node.self).where(\.count > 3).sorted(by: \.name), in: form)
  }

  mutating func step() throws {
    let typed = isTyping
    let name = nodes.keys.sorted().filter { !$0.hasPrefix("o") }.randomElement(using: &random)
    switch random.below(20) {
    case 0...4: try insert()
    case 5...8: if let name { try setCount(of: name, typed) }
    case 9...11: if let name { try setReferences(of: name) }
    case 12: if let name { try delete(name) }
    case 13: try editMany()
    case 14: try takeBack()
    case 15: try repeatStep()
    case 16: try writeAsOthers()
    case 17: try refresh()
    case 18: try random.below(3) == 0 ? rollBack() : save()
    default: try editInChild()
    }
  }

  private mutating func begin(_ what: String) {
    last = what
    undo.append(nodes)
    redo = []
    isTyping = nil
  }

  private func reference(_ name: String?) throws -> Reference<Node>? {
    try name.flatMap { try form.node($0)?.reference }
  }

  private mutating func insert() throws {
    made += 1
    let parent = random.below(2) == 0 ? nodes.keys.sorted().randomElement(using: &random) : nil
    begin("insert n\(made)")
    try form.insert(Node("n\(made)", parent: reference(parent)))
    nodes["n\(made)"] = ModelNode(parent: parent)
  }

  private mutating func setCount(of name: String, _ typed: String?) throws {
    let count = random.below(8)
    let object = try #require(try form.node(name))
    if nodes[name]?.count == count { return object.count = count }
    if typed == name { last = "type \(name)" } else { begin("count \(name)") }
    redo = []
    object.count = count
    nodes[name]?.count = count
    isTyping = name
  }

  private mutating func setReferences(of name: String) throws {
    let target = nodes.keys.sorted().randomElement(using: &random)
    let object = try #require(try form.node(name))
    let isParent = random.below(2) == 0
    let known = isParent ? nodes[name]?.parent : nodes[name]?.friend
    guard known != target else { return }
    begin("refer \(name) to \(target ?? "nothing")")
    try form.group("refer") {
      if isParent {
        object.parent = try reference(target)
      } else {
        object.friend = try reference(target)
      }
    }
    if isParent { nodes[name]?.parent = target } else { nodes[name]?.friend = target }
  }

  private mutating func delete(_ name: String) throws {
    begin("delete \(name)")
    try form.delete(#require(try form.node(name)))
    nodes.delete(name)
  }

  private mutating func editMany() throws {
    made += 1
    begin("edit many")
    let (low, name) = (random.below(8), "n\(made)")
    try form.edit("many") { tx in
      try tx.insert(Node(name))
      for node in try tx.objects(of: Node.self) where !node.name.hasPrefix("o") {
        if node.count ?? 0 < low { try tx.update(node) { $0.count = low } }
      }
    }
    nodes[name] = ModelNode()
    for (key, node) in nodes where !key.hasPrefix("o") && node.count ?? 0 < low {
      nodes[key]?.count = low
    }
  }

  private mutating func takeBack() throws {
    last = "undo"
    guard try form.undo() == !undo.isEmpty else { throw Difference(description: "undo") }
    guard let step = undo.popLast() else { return }
    isTyping = nil
    redo.append(nodes)
    nodes = step
  }

  private mutating func repeatStep() throws {
    last = "redo"
    guard try form.redo() == !redo.isEmpty else { throw Difference(description: "redo") }
    guard let step = redo.popLast() else { return }
    isTyping = nil
    undo.append(nodes)
    nodes = step
  }

  /// Others insert objects of their own, which nothing of the context's refers to before it looks.
  private mutating func writeAsOthers() throws {
    made += 1
    last = "others"
    let name = "o\(made)"
    try store.write {
      try $0.insert(Node(name: name, count: 5, parent: nil, friend: nil, text: nil))
    }
    others[name] = ModelNode(count: 5)
  }

  private mutating func adoptOthers() {
    for (name, node) in others {
      nodes[name] = node
      saved[name] = node
      for index in undo.indices { undo[index][name] = node }
      for index in redo.indices { redo[index][name] = node }
    }
    others = [:]
  }

  private mutating func refresh() throws {
    last = "refresh"
    try form.refresh()
    if !others.isEmpty { isTyping = nil }
    adoptOthers()
  }

  private mutating func save() throws {
    last = "save"
    guard try form.validate().isEmpty else { throw Difference(description: "violations") }
    let isAlone = others.isEmpty
    isTyping = nil
    adoptOthers()
    if !isAlone { (undo, redo) = ([], []) }
    try form.save()
    saved = nodes
    let found = try store.model()
    if found != saved { throw Difference(found, saved) }
  }

  private mutating func rollBack() throws {
    last = "rollback"
    form.rollback()
    isTyping = nil
    nodes = saved
    (undo, redo) = ([], [])
    adoptOthers()
  }

  private mutating func editInChild() throws {
    made += 1
    let name = "n\(made)"
    let victim = nodes.keys.sorted().filter { !$0.hasPrefix("o") }.randomElement(using: &random)
    let child = form.child()
    // Sometimes the parent goes on beside it.
    var isBeside = false
    if random.below(2) == 0 {
      try insert()
      isBeside = true
    }
    last = "child \(name), deletes \(victim ?? "nothing"), beside: \(isBeside)"
    try child.insert(Node(name))
    if let victim { try child.delete(#require(try child.node(victim))) }
    guard random.below(4) > 0 else { return }
    let before = nodes
    do {
      try child.save()
    } catch let error as AnnalsError where isBeside && error.code == .conflict {
      // The parent's new node refers to what the child deletes.
      return
    }
    undo.append(before)
    redo = []
    isTyping = nil
    nodes[name] = ModelNode()
    if let victim { nodes.delete(victim) }
  }

  func compare() throws {
    let found = try form.model()
    if found != nodes { throw Difference(found, nodes) }
    let shown = try rows.rows.all().map(\.name)
    let expected = nodes.filter { $0.value.count ?? 0 > 3 }.keys.sorted()
    if shown != expected { throw Difference(description: "rows \(shown), not \(expected)") }
  }

  mutating func finish() throws {
    try refresh()
    try save()
    let problems = try store.problems()
    #expect(problems == [], "\(trail)")
  }
}

extension ModelNodes {
  /// Deletes a node with its children, and clears what refers to them.
  fileprivate mutating func delete(_ name: String) {
    self[name] = nil
    for (key, node) in self where node.parent == name && self[key] != nil { delete(key) }
    for (key, node) in self where node.friend == name { self[key]?.friend = nil }
  }
}

extension ObjectSource {
  fileprivate func model() throws -> ModelNodes {
    let nodes: [Object<Node>] = try objects(of: Node.self, sortedBy: \.name)
    let names = Dictionary(uniqueKeysWithValues: nodes.map { ($0.objectID, $0.name) })
    var result: ModelNodes = [:]
    for node in nodes {
      result[node.name] = ModelNode(
        count: node.count, parent: node.parent.map { names[$0.objectID] ?? "?" },
        friend: node.friend.map { names[$0.objectID] ?? "?" })
    }
    return result
  }
}

extension Store {
  fileprivate func model() throws -> ModelNodes { try snapshot().model() }
}
