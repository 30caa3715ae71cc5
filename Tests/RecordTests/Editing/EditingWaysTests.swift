import Annals
import AnnalsModel
import AnnalsTestSupport
import Testing

private struct Setting: Record {
  var name: String
  var rank: Int?
  static let entity = RecordEntity(
    "Setting", Setting.init, Property("name", \.name).unique(),
    Property("rank", \.rank).default(7))
}

/// Two ways to the same end: a detour within the context, or others who write elsewhere, change
/// nothing of what is saved.
@Suite struct EditingWaysTests {
  /// What is done in a context on a chain of nodes: b and c in a, d likes a, e.
  private enum Act: CaseIterable {
    case deleteA, deleteB, deleteD, likeE, countD, moveB, newInA, freshDeleted

    func run(in form: EditingContext) throws {
      func node(_ name: String) throws -> EditableObject<Node>? { try form.node(name) }
      switch self {
      case .deleteA: if let a = try node("a") { try form.delete(a) }
      case .deleteB: if let b = try node("b") { try form.delete(b) }
      case .deleteD: if let d = try node("d") { try form.delete(d) }
      case .likeE: try node("d")?.friend = node("e")?.reference
      case .countD: try node("d")?.count = 3
      case .moveB: try node("b")?.parent = node("e")?.reference
      case .newInA: try form.insert(Node("new", parent: node("a")?.reference))
      case .freshDeleted:
        let fresh = try form.insert(Node("fresh"))
        try node("d")?.friend = fresh.reference
        try form.delete(fresh)
      }
    }
  }

  /// What comes between the acts and the save.
  private enum Detour: CaseIterable {
    case none, others, undoAndRedo, undoAndRedoAll, refresh, child, saveInBetween
  }

  private func store() throws -> Store {
    let store = try Store.ofNodes("a", "e")
    try store.write { tx in
      let a = try #require(try tx.object(Node.self, where: \.name, is: "a")).reference
      for name in ["b", "c"] { try tx.insert(Node(name, parent: a)) }
      try tx.insert(Node(name: "d", count: nil, parent: nil, friend: a, text: nil))
    }
    return store
  }

  private func outcome(_ acts: [Act], _ detour: Detour) throws -> [String] {
    let store = try store()
    let form = try EditingContext(store)
    let inner = detour == .child ? form.child() : form
    for (place, act) in acts.enumerated() {
      try act.run(in: inner)
      if detour == .undoAndRedo, try form.undo() { #expect(try form.redo()) }
      if detour == .saveInBetween, place == 0 { try form.save() }
    }
    switch detour {
    case .undoAndRedoAll:
      while try form.undo() {}
      #expect(!form.hasChanges)
      while try form.redo() {}
    case .others, .refresh: try store.write { try $0.insert(Node("others")) }
    default: break
    }
    if detour == .refresh { try form.refresh() }
    if detour == .child {
      // The parent goes on beside it, with what the child has nothing to do with.
      try form.insert(Node("others"))
      try inner.save()
      #expect(inner.undoName == nil && !inner.hasChanges)
    }
    try form.save()
    #expect(try store.problems() == [], "\(acts), \(detour)")
    let nodes: [Object<Node>] = try store.snapshot().objects(of: Node.self, sortedBy: \.name)
    let names = Dictionary(uniqueKeysWithValues: nodes.map { ($0.objectID, $0.name) })
    return nodes.filter { $0.name != "others" }.map {
      let (parent, friend) = ($0.parent?.objectID, $0.friend?.objectID)
      return "\($0.name) \($0.count ?? 0) in \(parent.map { names[$0] ?? "?" } ?? "-") likes "
        + (friend.map { names[$0] ?? "?" } ?? "-")
    }
  }

  @Test func detoursChangeNothing() throws {
    for first in Act.allCases {
      for second in Act.allCases where second != first {
        let wanted = try outcome([first, second], .none)
        for detour in Detour.allCases {
          #expect(
            try outcome([first, second], detour) == wanted, "\(first), \(second), \(detour)")
        }
      }
    }
  }

  /// As what follows from a deletion is taken back and done again, others' changes of it meet the
  /// same deletion.
  @Test(arguments: MergePolicy.allCases) func aDeletionRedoneMeetsOthers(_ policy: MergePolicy)
    throws
  {
    func outcome(isRedone: Bool) throws -> [String] {
      let store = try store()
      let form = try EditingContext(store)
      try form.delete(#require(try form.node("a")))
      if isRedone {
        try form.undo()
        try form.redo()
      }
      let b = try #require(try store.node("b")).objectID
      try store.write { try $0.set(\Node.count, of: b, to: 5) }
      do {
        let commit = try form.save(merging: policy)
        return try store.nodeNames() + commit.conflicts.map(\.description)
      } catch let error as AnnalsError {
        return ["\(error.code)"] + error.conflicts.map(\.description)
      }
    }
    #expect(try outcome(isRedone: true) == outcome(isRedone: false))
  }

  @Test func theStepsOfAChildEndWhereItsParentHasChanged() throws {
    for isBehind in [false, true] {
      let lab = try EditingLab()
      let child = lab.form.child()
      try #require(try child.node("a")).count = 3
      if isBehind { try #require(try lab.form.node("b")).count = 1 }
      try child.save()
      #expect(try child.undo() != isBehind)
      #expect(try child.node("a")?.count == (isBehind ? 3 : nil))
    }
  }

  @Test func aValueThatCannotBeStoredGoesWithItsObject() throws {
    let lab = try EditingLab()
    for isEdit in [false, true] {
      try lab.form.update(lab.a.objectID, ["count": "many"])
      #expect(try lab.form.validate().count == 1)
      if isEdit {
        try lab.form.edit { try $0.delete(lab.a.objectID) }
      } else {
        try lab.form.delete(lab.a)
      }
      #expect(try lab.form.validate() == [])
      try lab.form.undo()
      #expect(try lab.form.validate().count == 1)
      try lab.form.undo()
      #expect(try lab.form.validate() == [] && !lab.form.hasChanges)
    }
    try lab.form.update(lab.a.objectID, ["count": "many"])
    try lab.form.delete(lab.a)
    try lab.form.save()
    #expect(try lab.store.nodeNames() == ["b"])
  }

  @Test func afterARollbackAFailureIsForgotten() throws {
    let lab = try EditingLab()
    try lab.form.edit { _ in lab.a.count = 5 }
    #expect(throws: AnnalsError.self) { try lab.form.validate() }
    #expect(throws: AnnalsError.self) { try lab.form.save() }
    #expect(lab.form.hasChanges)
    lab.form.rollback()
    #expect(try lab.form.validate() == [] && !lab.form.hasChanges)
    lab.a.count = 6
    try lab.form.save()
    #expect(try lab.store.node("a")?.count == 6)
  }

  /// What is read of an object is what the context has for it.
  @Test func aClearedValueShowsItsDefault() throws {
    let store = try Store(.memory, records: Setting.self)
    let form = try EditingContext(store)
    let setting = try form.insert(Setting(name: "a", rank: 3))
    for rank in [4, nil, 7, nil, 8] as [Int?] {
      setting.rank = rank
      let stored = try #require(try form.object(Setting.self, setting.objectID) as Object<Setting>?)
      #expect(setting.rank == stored.rank)
      try form.save()
      #expect(try store.snapshot().object(Setting.self, setting.objectID)?.rank == setting.rank)
    }
  }

  /// Values are read from the file that has them, whichever was written last.
  @Test func largeValuesOfAFileThatWasRewritten() throws {
    let lab = try EditingLab()
    for (number, letter) in ["p", "q", "r"].enumerated() {
      try lab.store.compact()
      let text = String(repeating: letter, count: 9_000 + number)
      lab.a.text = text
      try lab.form.save()
      let found = try #require(try lab.form.object(Node.self, lab.a.objectID) as Object<Node>?)
      #expect(found.text == text)
      #expect(try lab.form.fetch(Fetch(Node.self).where(\.text == text)).count == 1)
      lab.a.count = number
      #expect(lab.a.text == text)
      try lab.form.save()
      #expect(try lab.store.node("a")?.text == text)
    }
  }
}
