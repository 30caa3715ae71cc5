import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

private struct Tag: Record {
  var name: String
  var parent: Reference<Tag>?
  var near: [Reference<Tag>]
  static let entity = RecordEntity(
    "Tag", Tag.init, Property("name", \.name), Property("parent", \.parent),
    Property("near", \.near))
}

private struct Box: Record {
  var tags: [Reference<Tag>]
  static let entity = RecordEntity("Box", Box.init, Property("tags", \.tags))
}

private struct Item: Record {
  var title: String
  var tags: [Reference<Tag>]
  var box: Reference<Box>?
  static let entity = RecordEntity(
    "Item", Item.init, Property("title", \.title), Property("tags", \.tags, isOrdered: true),
    Property("box", \.box))
}

/// A store of items with random changes, and conditions with what they mean in plain code.
private final class TagLab {
  typealias Question = (RecordCondition<Item>, (Snapshot, Item) throws -> Bool)

  let store: Store
  private var random: SeededRandom
  /// Tags that are there or were.
  private var tags: [ObjectID] = []

  init(seed: UInt64) throws {
    store = try Store(.memory, records: Item.self, Tag.self, Box.self)
    random = SeededRandom(seed: seed)
    try change(120)
  }

  func below(_ count: Int) -> Int { random.draw(count) }

  private var name: String { ["food", "wine", "home", "work"][below(4)] }

  private func some(_ limit: Int) -> [Reference<Tag>] {
    Set((0..<below(limit)).compactMap { _ in tags.isEmpty ? nil : tags[below(tags.count)] })
      .sorted { $0.row < $1.row }.map { Reference($0) }
  }

  private func any<R: Record>(_ type: R.Type, _ tx: WriteTransaction) throws -> ObjectID? {
    let all = try tx.objectIDs(Fetch(type))
    return all.isEmpty ? nil : all[below(all.count)]
  }

  /// A transaction of some random changes. What it deletes nothing else in it refers to.
  func change(_ count: Int) throws {
    let known = tags
    try store.write { tx in
      for _ in 0..<count {
        switch below(16) {
        case 0: if let id = try any(Tag.self, tx) { try tx.delete(id) }
        case 1, 2: if let id = try any(Item.self, tx) { try tx.delete(id) }
        case 3: if let id = try any(Box.self, tx), below(3) == 0 { try tx.delete(id) }
        default: break
        }
      }
      for _ in 0..<count {
        tags = try tx.objectIDs(Fetch(Tag.self))
        try edit(tx)
      }
    }
    tags = Set(tags + known).sorted { $0.row < $1.row }
  }

  private func edit(_ tx: WriteTransaction) throws {
    let new = some(4)
    switch below(10) {
    case 0, 1: try tx.insert(Tag(name: name, parent: some(2).first, near: new))
    case 2, 3, 4:
      let box = try any(Box.self, tx).map { Reference<Box>($0) }
      try tx.insert(Item(title: name, tags: new, box: below(3) == 0 ? nil : box))
    case 5: try tx.insert(Box(tags: new))
    case 6: if let id = try any(Tag.self, tx) { try rename(id, tx) }
    case 7: if let id = try any(Tag.self, tx) { try tx.update(Tag.self, id) { $0.near = new } }
    case 8: if let id = try any(Box.self, tx) { try tx.update(Box.self, id) { $0.tags = new } }
    default: if let id = try any(Item.self, tx) { try tx.update(Item.self, id) { $0.tags = new } }
    }
  }

  private func rename(_ id: ObjectID, _ tx: WriteTransaction) throws {
    let (name, parent, isName) = (name, some(2).first, below(2) == 0)
    try tx.update(Tag.self, id) { tag in
      if isName { tag.name = name } else { tag.parent = parent }
    }
  }

  /// What is asked; `depth` bounds how conditions are combined.
  func question(_ depth: Int = 2) -> Question {
    let (id, name) = (tags.isEmpty ? nil : tags[below(tags.count)], name)
    func has(_ tags: [Reference<Tag>], _ snapshot: Snapshot) throws -> Bool {
      try snapshot[tags].contains { $0.name == name }
    }
    switch below(depth > 0 ? 11 : 8) {
    case 0, 1:
      guard let id else { return (.never, { _, _ in false }) }
      let tag = Reference<Tag>(id)
      return (.contains(\.tags, tag), { _, item in item.tags.contains(tag) })
    case 2: return (.any(\.tags, \.name == name), { try has($1.tags, $0) })
    case 3: return (.any(\.tags, .always), { try !$0[$1.tags].isEmpty })
    case 4:
      return (
        .any(\.tags, .through(\.parent, \.name == name)),
        { now, item in try now[item.tags].contains { try now[$0.parent]?.name == name } }
      )
    case 5:
      return (
        .any(\.tags, .any(\.near, \.name != name)),
        { now, item in
          try now[item.tags].contains { try now[$0.near].contains { $0.name != name } }
        }
      )
    case 6:
      return (
        .through(\.box, .any(\.tags, \.name == name)),
        { now, item in try now[item.box].map { try has($0.tags, now) } ?? false }
      )
    case 7:
      guard let id else { return (.never, { _, _ in false }) }
      let tag = Reference<Tag>(id)
      return (
        .through(\.box, .contains(\.tags, tag)),
        { now, item in try now[item.box]?.tags.contains(tag) ?? false }
      )
    case 8:
      let (a, b) = (question(depth - 1), question(depth - 1))
      return (a.0 && b.0, { try a.1($0, $1) && b.1($0, $1) })
    case 9:
      let (a, b) = (question(depth - 1), question(depth - 1))
      return (a.0 || b.0, { try a.1($0, $1) || b.1($0, $1) })
    default:
      let a = question(depth - 1)
      return (!a.0, { try !a.1($0, $1) })
    }
  }

  var itemCount: Int {
    get throws { try store.snapshot().count(Fetch(Item.self)) }
  }

  /// The objects that meet a condition, by plain code over all.
  func expected(_ question: Question) throws -> [ObjectID] {
    let snapshot = store.snapshot()
    return try snapshot.objects(of: Item.self).filter { try question.1(snapshot, $0.value) }
      .map(\.objectID)
  }
}

/// Membership finds, and keeps up to date, what plain code finds.
@Suite(.deadline) struct MembershipModelTests {
  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func fetchesFindWhatPlainCodeFinds(seed: UInt64) throws {
    let lab = try TagLab(seed: seed)
    var found = 0
    for round in 0..<60 {
      try lab.change(1 + lab.below(5))
      let question = lab.question()
      let comment: Comment = "seed \(seed), round \(round): \(question.0)"
      let expected = try lab.expected(question)
      let fetch = Fetch(Item.self).where(question.0)
      let snapshot = lab.store.snapshot()
      #expect(try snapshot.objectIDs(fetch) == expected, comment)
      #expect(try snapshot.count(fetch) == expected.count, comment)
      let text = question.0.description
      let read = try Condition(parsing: text, of: "Item", in: lab.store.schema)
      #expect(read == question.0.condition, comment)
      #expect(try snapshot.objectIDs(DynamicFetch("Item").where(read)) == expected, comment)
      found += expected.count
    }
    #expect(found > 60, "seed \(seed)")
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func aLiveViewFollows(seed: UInt64) async throws {
    let lab = try TagLab(seed: seed)
    var updates = 0
    for part in 0..<4 {
      // One that is true of nothing, or of everything, has nothing to show.
      var question = lab.question()
      while try [0, lab.itemCount].contains(lab.expected(question).count) {
        question = lab.question()
      }
      let view = lab.store.live(Fetch(Item.self).where(question.0))
      var iterator = view.makeAsyncIterator()
      var rows = Array(try #require(try await iterator.next()).rows.objectIDs)
      #expect(rows == (try lab.expected(question)), "seed \(seed), part \(part): \(question.0)")
      for round in 0..<12 {
        let comment: Comment = "seed \(seed), part \(part), round \(round): \(question.0)"
        try lab.change(1 + lab.below(3))
        while rows != (try lab.expected(question)) {
          let update = try #require(try await iterator.next(), comment)
          let list = update.rows
          update.diff.apply(to: &rows) { list.objectIDs[$0.position] }
          #expect(rows == Array(list.objectIDs), comment)
          updates += 1
        }
      }
    }
    #expect(updates >= 4, "seed \(seed)")
  }

  /// A difference between two states is made of all that changed between them.
  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func aDifferenceLeadsThere(seed: UInt64) throws {
    let lab = try TagLab(seed: seed)
    for round in 0..<30 {
      let question = lab.question()
      let fetch = Fetch(Item.self).where(question.0)
      var rows = try lab.store.snapshot().objectIDs(fetch)
      let token = lab.store.token
      for _ in 0..<lab.below(4) { try lab.change(1 + lab.below(4)) }
      let diff = try lab.store.diff(of: fetch, from: token)
      let now = try lab.store.snapshot().objectIDs(fetch)
      diff.apply(to: &rows) { now[$0.position] }
      #expect(try rows == lab.expected(question), "seed \(seed), round \(round): \(question.0)")
    }
  }
}
