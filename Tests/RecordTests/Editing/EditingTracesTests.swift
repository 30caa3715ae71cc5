import Annals
import AnnalsModel
import AnnalsTestSupport
import Testing

private struct Item: Record {
  var name: String
  static let entity = RecordEntity("Item", Item.init, Property("name", \.name).unique())
}

private struct Holder: Record {
  var name: String
  var kept: [Reference<Item>]
  var plain: [Reference<Item>]
  var one: Reference<Item>?
  static let entity = RecordEntity(
    "Holder", Holder.init, Property("name", \.name).unique(),
    Property("kept", \.kept).onDelete(.keep), Property("plain", \.plain).onDelete(.nullify),
    Property("one", \.one).onDelete(.keep))
}

/// What a context has taken back, or has been through, leaves no trace in what is saved.
@Suite struct EditingTracesTests {
  private enum Act: CaseIterable {
    case deleteA, deleteB, deleteD, likeE, countD, newInA

    func run(in form: EditingContext) throws {
      func node(_ name: String) throws -> EditableObject<Node>? { try form.node(name) }
      switch self {
      case .deleteA: if let a = try node("a") { try form.delete(a) }
      case .deleteB: if let b = try node("b") { try form.delete(b) }
      case .deleteD: if let d = try node("d") { try form.delete(d) }
      case .likeE: try node("d")?.friend = node("e")?.reference
      case .countD: try node("d")?.count = 3
      case .newInA: try form.insert(Node("new", parent: node("a")?.reference))
      }
    }
  }

  private enum Way: CaseIterable { case alone, group, edit, child }

  private func store() throws -> Store {
    let store = try Store.ofNodes("a", "e")
    try store.write { tx in
      let a = try #require(try tx.object(Node.self, where: \.name, is: "a")).reference
      for name in ["b", "c"] { try tx.insert(Node(name, parent: a)) }
      try tx.insert(Node(name: "d", count: nil, parent: nil, friend: a, text: nil))
    }
    return store
  }

  /// What is saved beside others, after an act was made in a way and taken back `times` times.
  private func outcome(_ undone: Act?, _ way: Way, _ times: Int, then act: Act) throws -> [String] {
    let store = try store()
    let form = try EditingContext(store)
    if let undone {
      switch way {
      case .alone: try undone.run(in: form)
      case .group:
        try form.group("all") {
          try form.node("e")?.count = 9
          try undone.run(in: form)
        }
      case .edit, .child:
        let child = form.child()
        try child.node("e")?.count = 9
        try undone.run(in: child)
        try child.save()
      }
      for time in 1...times {
        #expect(try form.undo())
        if time < times { #expect(try form.redo()) }
      }
      #expect(!form.hasChanges && form.undoName == nil, "\(undone), \(way)")
    }
    try act.run(in: form)
    try store.write { try $0.insert(Node("others")) }
    if times == 2 { try form.refresh() }
    try form.save()
    #expect(try store.problems() == [], "\(undone.map { "\($0)" } ?? "-"), \(way), \(act)")
    let nodes: [Object<Node>] = try store.snapshot().objects(of: Node.self, sortedBy: \.name)
    let names = Dictionary(uniqueKeysWithValues: nodes.map { ($0.objectID, $0.name) })
    return nodes.map {
      let (parent, friend) = ($0.parent?.objectID, $0.friend?.objectID)
      return "\($0.name) \($0.count ?? 0) in \(parent.map { names[$0] ?? "?" } ?? "-") likes "
        + (friend.map { names[$0] ?? "?" } ?? "-")
    }
  }

  @Test func whatWasTakenBackLeavesNothing() throws {
    for act in Act.allCases {
      let wanted = try outcome(nil, .alone, 1, then: act)
      for undone in Act.allCases {
        for way in Way.allCases {
          for times in [1, 2] {
            #expect(
              try outcome(undone, way, times, then: act) == wanted,
              "\(undone), \(way), \(times), then \(act)")
          }
        }
      }
    }
  }

  /// A value that cannot be stored is something pending, and nothing once it is taken back.
  @Test func aValueThatCannotBeStoredIsAChange() throws {
    let lab = try EditingLab()
    let values: [[String: Value]] = [["count": "many"], ["nothing": 1], ["friend": 1]]
    for value in values {
      #expect(!lab.form.hasChanges)
      try lab.form.update(lab.a.objectID, value)
      #expect(lab.form.hasChanges && lab.form.undoName != nil, "\(value)")
      #expect(try lab.form.validate().count == 1, "\(value)")
      try lab.form.undo()
      #expect(!lab.form.hasChanges && lab.form.redoName != nil, "\(value)")
      try lab.form.redo()
      #expect(lab.form.hasChanges, "\(value)")
      lab.form.rollback()
    }
  }

  // MARK: A refresh before the save

  private enum Own: CaseIterable {
    case append, removeFirst, replace, rename

    func run(_ holder: EditableObject<Holder>, _ items: [Reference<Item>]) {
      switch self {
      case .append:
        holder.kept.append(items[2])
        holder.plain.append(items[2])
      case .removeFirst:
        holder.kept.removeFirst()
        holder.plain.removeFirst()
      case .replace: holder.one = items[2]
      case .rename: holder.name = "mine"
      }
    }
  }

  private enum Theirs: CaseIterable {
    case deleteFirst, deleteSecond, deleteThird, clear, deleteHolder, deleteHolderAndFirst

    func run(_ tx: WriteTransaction, _ holder: ObjectID, _ items: [ObjectID]) throws {
      switch self {
      case .deleteFirst: try tx.delete(items[0])
      case .deleteSecond: try tx.delete(items[1])
      case .deleteThird: try tx.delete(items[2])
      case .clear: try tx.update(holder, ["kept": .null, "plain": .null, "one": .null])
      case .deleteHolder: try tx.delete(holder)
      case .deleteHolderAndFirst:
        try tx.delete(holder)
        try tx.delete(items[0])
      }
    }
  }

  private func saved(
    _ own: Own, _ theirs: Theirs, _ policy: MergePolicy?, refreshes: Bool
  ) throws -> String {
    let store = try Store(.memory, records: Item.self, Holder.self, environment: .fixed())
    let (holder, items) = try store.write { tx in
      let items = try ["a", "b", "c"].map { try tx.insert(Item(name: $0)) }
      let some = items.prefix(2).map(\.reference)
      let holder = try tx.insert(Holder(name: "h", kept: some, plain: some, one: some[0]))
      return (holder.objectID, items)
    }
    let form = try EditingContext(store)
    let edited = try #require(try form.object(Holder.self, holder) as EditableObject<Holder>?)
    own.run(edited, items.map(\.reference))
    try store.write { try theirs.run($0, holder, items.map(\.objectID)) }
    var isValid: Bool?
    do {
      if refreshes {
        try form.refresh(merging: policy)
        isValid = try form.validate().isEmpty
        try form.save()
      } else {
        try form.save(merging: policy)
      }
    } catch let error as AnnalsError {
      #expect(isValid != true, "\(own), \(theirs): \(error)")
      return "\(error.code)"
    }
    // What validates is what can be saved.
    #expect(isValid != false, "\(own), \(theirs), \(policy.map { "\($0)" } ?? "-")")
    #expect(try store.problems() == [], "\(own), \(theirs)")
    guard let found = try store.snapshot().object(Holder.self, holder) else { return "gone" }
    let rows = [found.kept, found.plain].map { $0.map(\.objectID.row).sorted() }
    return "\(found.name) \(rows) \(found.one?.objectID.row ?? 0)"
  }

  @Test func aRefreshBeforeTheSaveChangesNothing() throws {
    for own in Own.allCases {
      for theirs in Theirs.allCases {
        for policy in [nil] + MergePolicy.allCases.map(Optional.some) {
          let wanted = try saved(own, theirs, policy, refreshes: false)
          let found = try saved(own, theirs, policy, refreshes: true)
          #expect(found == wanted, "\(own), \(theirs), \(policy.map { "\($0)" } ?? "-")")
        }
      }
    }
  }
}
