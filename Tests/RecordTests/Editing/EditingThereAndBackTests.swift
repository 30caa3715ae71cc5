import Annals
import AnnalsModel
import AnnalsTestSupport
import Testing

/// Steps of a context before and after others have changed or deleted the same objects, against a
/// model of steps: undone to the end and redone to the end, with what is pending after each.
@Suite struct EditingThereAndBackTests {
  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func stepsLeadToWhatOthersMade(_ seed: UInt64) throws {
    var run = try StepRun(seed: seed)
    for _ in 0..<(2 + run.random.below(8)) { try run.edit() }
    for _ in 0..<run.random.below(4) where try run.form.undo() { run.undo() }
    try run.compare("edited")
    try run.others()
    for _ in 0..<run.undoSteps.count {
      #expect(try run.form.undo(), "\(run.trail)")
      run.undo()
      try run.compare("undone")
    }
    #expect(try !run.form.undo(), "\(run.trail)")
    for _ in 0..<run.redoSteps.count {
      #expect(try run.form.redo(), "\(run.trail)")
      run.redo()
      try run.compare("redone")
    }
    #expect(try !run.form.redo(), "\(run.trail)")
    try run.form.save()
    try run.compare("saved")
    #expect(try run.store.nodeCounts() == run.counts && run.store.problems() == [], "\(run.trail)")
  }

  /// The objects that a form shows are those that the store has, whichever id they got.
  @Test(arguments: MergePolicy.allCases.filter { $0 != .error })
  func whatIsUnitedWithAnotherGoesOnAsThat(_ policy: MergePolicy) throws {
    let lab = try EditingLab()
    let (store, form) = (lab.store, lab.form)
    let mine = try form.insert(Node(name: "x", count: 1, parent: nil, friend: nil, text: nil))
    let beside = try form.insert(Node("y", parent: mine.reference))
    let theirs = try store.write {
      try $0.insert(Node(name: "x", count: 7, parent: nil, friend: nil, text: "theirs")).objectID
    }
    let provisional = mine.objectID
    let isRefresh = policy == .ownWins || policy == .rollBack
    let commit = isRefresh ? try form.refresh(merging: policy) : try form.save(merging: policy)
    #expect(Array(commit.mergedObjects.values) == [theirs], "\(commit)")
    #expect(provisional == theirs || mine.objectID != provisional)
    #expect(mine.objectID == theirs && !mine.isDeleted)
    #expect(try form.node("x") === mine && form.node("y") === beside)
    #expect(beside.parent?.objectID == theirs)
    let keepsOwn = policy == .ownWins || policy == .overwrite
    #expect(mine.count == (keepsOwn ? 1 : 7))
    #expect(mine.text == (policy == .overwrite ? nil : "theirs"))
    mine.count = 9
    try form.save()
    let found = try #require(try store.snapshot().object(Node.self, theirs))
    #expect(found.count == 9 && mine.count == 9)
    #expect(try store.node("y")?.parent?.objectID == theirs)
    #expect(try store.problems() == [])
  }
}

extension Store {
  /// The count of each node, by its name.
  fileprivate func nodeCounts() throws -> [String: Int?] {
    Dictionary(
      uniqueKeysWithValues: try snapshot().objects(of: Node.self).map { ($0.name, $0.count) })
  }
}

private struct StepRun {
  /// What a step found: the count of one node.
  struct Step {
    let name: String
    let before: Int?
  }

  let store: Store
  let form: EditingContext
  var random: SeededRandom
  private(set) var trail: [String] = []
  private(set) var undoSteps: [Step] = []
  private(set) var redoSteps: [Step] = []
  /// What is pending, and the state below it.
  private(set) var counts: [String: Int?] = [:]
  private var base: [String: Int?] = [:]

  init(seed: UInt64) throws {
    random = SeededRandom(seed: seed)
    store = try .ofNodes("a", "b", "c", "d")
    form = try EditingContext(store)
    trail = ["seed \(seed)"]
    base = try store.nodeCounts()
    counts = base
  }

  /// Sets the count of a node, as a step of its own.
  mutating func edit() throws {
    let name = ["a", "b", "c", "d"][random.below(4)]
    let node = try form.node(name)
    guard let node else { return }
    let count = random.below(4)
    guard counts[name] != .some(count) else { return }
    trail.append("\(name) = \(count)")
    undoSteps.append(Step(name: name, before: node.count))
    redoSteps = []
    try form.group("Count \(name)") { node.count = count }
    counts[name] = .some(count)
  }

  mutating func undo() {
    trail.append("undo")
    if let step = undoSteps.popLast() { redoSteps.append(inverse(step)) }
  }

  mutating func redo() {
    trail.append("redo")
    if let step = redoSteps.popLast() { undoSteps.append(inverse(step)) }
  }

  private mutating func inverse(_ step: Step) -> Step {
    let now = counts[step.name] ?? nil
    counts[step.name] = .some(step.before)
    return Step(name: step.name, before: now)
  }

  /// Others change and delete some nodes; the context adopts that by a policy.
  mutating func others() throws {
    var stored = base
    for name in ["a", "b", "c", "d"] {
      let id = try #require(try store.node(name)).objectID
      switch random.below(5) {
      case 0:
        trail.append("others delete \(name)")
        try store.write { try $0.delete(id) }
        stored[name] = nil
      case 1, 2:
        let count = 10 + random.below(3)
        trail.append("others set \(name) to \(count)")
        try store.write { try $0.set(\Node.count, of: id, to: count) }
        stored[name] = .some(count)
      default: break
      }
    }
    let policy = [MergePolicy.ownWins, .storedWins, .overwrite, .rollBack][random.below(4)]
    trail.append("refresh \(policy)")
    let commit = try form.refresh(merging: policy)
    let keepsOwn = policy == .ownWins || policy == .overwrite
    var conflicts: [String] = []
    for name in base.keys.sorted() {
      let isMine = counts[name] != base[name]
      let isTheirs = stored[name] != base[name]
      if isMine, isTheirs, counts[name] != stored[name] { conflicts.append(name) }
      if !isMine || isTheirs && !keepsOwn { counts[name] = stored[name] }
    }
    let told = commit.conflicts.map { String($0.objectName.dropFirst("Node/".count)) }
    #expect(told.sorted() == conflicts, "\(trail)")
    // Of an object that is gone nothing is taken back, and such a step ends the chain.
    func rebased(_ steps: [Step]) -> [Step] {
      let end = steps.lastIndex { stored[$0.name] == nil }
      return steps[((end ?? -1) + 1)...].map { step in
        let isBase = .some(step.before) == base[step.name]
        return Step(name: step.name, before: isBase ? stored[step.name] ?? nil : step.before)
      }
    }
    (undoSteps, redoSteps) = (rebased(undoSteps), rebased(redoSteps))
    base = stored
    try compare("refreshed")
  }

  /// The context has what the model has, and so has each object that somebody holds.
  func compare(_ place: String) throws {
    let nodes: [EditableObject<Node>] = try form.fetch(Fetch(Node.self))
    let found = Dictionary(uniqueKeysWithValues: nodes.map { ($0.name, $0.count) })
    #expect(found == counts, "\(place): \(trail)")
    #expect(form.undoName == undoSteps.last.map { "Count \($0.name)" }, "\(place): \(trail)")
    #expect(form.redoName == redoSteps.last.map { "Count \($0.name)" }, "\(place): \(trail)")
    #expect(form.hasChanges == (counts != base) || place == "saved", "\(place): \(trail)")
  }
}
