import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

private struct Item: Record, Equatable {
  var name: String
  static let entity = RecordEntity("Item", Item.init, Property("name", \.name).unique())
}

private struct Plan: Record, Equatable {
  var name: String
  var items: [Reference<Item>]
  var tags: [Reference<Item>]
  static let entity = RecordEntity(
    "Plan", Plan.init, Property("name", \.name).unique(),
    Property("items", \.items, isOrdered: true), Property("tags", \.tags))
}

/// Moves in ordered to-manys: recorded as such, shown as such, undone, and merged.
@Suite struct ListMoveTests {
  private let store: Store
  private let items: [Object<Item>]
  private let plan: Object<Plan>

  init() throws {
    (store, items, plan) = try Self.world(5)
  }

  private static func world(_ count: Int) throws -> (Store, [Object<Item>], Object<Plan>) {
    let store = try Store(.memory, records: Item.self, Plan.self)
    let (items, plan) = try store.write { tx in
      let items = try (0..<count).map { try tx.insert(Item(name: "\($0)")) }
      let references = items.map { Reference($0) }
      return (items, try tx.insert(Plan(name: "trip", items: references, tags: references)))
    }
    return (store, items, plan)
  }

  private var names: String { get throws { try Self.names(store, plan) } }

  private static func names(_ source: Store, _ plan: Object<Plan>) throws -> String {
    let snapshot = source.snapshot()
    let list = try #require(try snapshot.object(Plan.self, plan.objectID)).items
    return try list.map { try snapshot.object(Item.self, $0.objectID)?.name ?? "?" }.joined()
  }

  private func edits(of number: Int64? = nil) throws -> RelationshipEdits {
    let transaction = try store.transaction(number ?? store.token.number)
    return try #require(transaction.changes.first).edits("items")
  }

  @Test func aMoveIsOneRemovalAndOneInsertion() throws {
    try store.write { try $0.move(\.items, of: plan, from: 3, to: 0) }
    #expect(try names == "30124")
    let moved = ObjectReference(items[3].objectID)
    let edits = try edits()
    #expect(edits.removed.map(\.position) == [3] && edits.removed.map(\.object) == [moved])
    #expect(edits.inserted.map(\.position) == [0] && edits.inserted.map(\.object) == [moved])
    #expect(edits.moved.map(\.object) == [moved])
    #expect(edits.moved.map(\.from) == [3] && edits.moved.map(\.to) == [0])
    try store.write { try $0.move(\.items, of: plan, items[3], to: 4) }
    #expect(try names == "01243")
    try store.write { try $0.move("items", of: plan.objectID, from: 4, to: 2) }
    #expect(try names == "01324")
    try store.write { try $0.move("items", of: plan.objectID, items[0].objectID, to: 1) }
    #expect(try names == "10324")
    try store.write {
      try $0.move(\.items, of: plan, fromOffsets: IndexSet([0, 3]), toOffset: 5)
    }
    #expect(try names == "03412")
    try store.write {
      try $0.move(\.items, of: plan, fromOffsets: IndexSet([1, 4]), toOffset: 0)
    }
    #expect(try names == "32041")
    let head = store.token
    try store.write { try $0.move(\.items, of: plan, from: 2, to: 2) }
    #expect(store.token == head, "a move to where it is changes nothing")
  }

  @Test func aMoveInALongListIsNoLonger() throws {
    let (store, _, plan) = try Self.world(100_000)
    try store.write { try $0.move(\.items, of: plan, from: 99_998, to: 1) }
    let transaction = try store.transaction(store.token.number)
    let edits = try #require(transaction.changes.first).edits("items")
    #expect(edits.removed.map(\.position) == [99_998])
    #expect(edits.inserted.map(\.position) == [1])
  }

  @Test func whatIsNotThereIsNotMoved() throws {
    func message(_ body: (WriteTransaction) throws -> Void) -> String {
      let head = store.token
      let error = #expect(throws: AnnalsError.self) { try store.write { try body($0) } }
      #expect(store.token == head)
      return "\(error?.code as Any) \(error?.message ?? "")"
    }
    #expect(
      message { try $0.move(\.items, of: plan, from: 5, to: 0) }.contains(
        "\"items\" has 5 objects, and no position 5"))
    #expect(message { try $0.move(\.items, of: plan, from: 0, to: -1) }.contains("no position -1"))
    #expect(
      message { try $0.move(\.tags, of: plan, from: 0, to: 1) }.contains(
        "Plan.tags is no ordered to-many"))
    #expect(message { try $0.move("name", of: plan.objectID, from: 0, to: 1) }.contains("no relat"))
    #expect(
      message { tx in
        let other = try tx.insert(Item(name: "other"))
        try tx.move(\.items, of: plan, other, to: 0)
      }.contains("\"items\" does not have Item"))
    #expect(
      message { tx in
        try tx.delete(plan)
        try tx.move(\.items, of: plan, from: 0, to: 1)
      }.contains("no object Plan"))
  }

  @Test func movesAreShownAsMoves() throws {
    try store.write { tx in
      try tx.move(\.items, of: plan, from: 3, to: 0)
      try tx.update(plan) { $0.items.remove(at: 4) }
    }
    let change = try #require(try store.transaction(store.token.number).changes.first)
    let text = "\(try #require(change.properties.first { $0.name == "items" }))"
    #expect(text == "items -#5, #4 moved from 4 to 1")
  }

  @Test func movesAreUndoneRedoneAndReverted() throws {
    try store.write(author: "me") { try $0.move(\.items, of: plan, from: 4, to: 1) }
    let moved = store.token
    #expect(try names == "04123")
    try store.undo(author: "me")
    #expect(try names == "01234")
    try store.redo(author: "me")
    #expect(try names == "04123")
    try store.revert(moved)
    #expect(try names == "01234")
    // What others have done to the list since stays, if a policy says so.
    try store.write(author: "me") { try $0.move(\.items, of: plan, from: 0, to: 4) }
    try store.write(author: "her") { tx in
      try tx.update(plan) { $0.items.remove(at: 0) }
      let new = try tx.insert(Item(name: "n"))
      try tx.update(plan) { $0.items.append(Reference(new)) }
    }
    #expect(try names == "2340n")
    #expect(throws: AnnalsError.self) { try store.undo(author: "me") }
    let undone = try store.undo(author: "me", merging: .ownWins)
    #expect(try names == "0234n" && undone.conflicts.isEmpty)
    #expect(try store.verify().filter { $0.severity != .note }.isEmpty)
  }

  /// Each move against what others do to the same list, without a policy and with each.
  @Test(
    arguments: [
      // Theirs, mine, the result of both; with a conflict that of each side.
      ("01234n", "30124", "30124n", nil), ("1234", "30124", "3124", nil),
      ("0124", "30124", "0124", nil), ("40123", "12034", "41203", nil),
      ("01243", "30124", "30124", nil), ("03124", "30124", "30124", "03124"),
      ("30124", "30124", "30124", nil),
      ("0n1234", "10234", "10n234", nil), ("", "30124", "", nil),
      ("01234", "30124", "30124", nil), ("30124", "0124", "0124", nil),
    ] as [(String, String, String, String?)])
  func movesAreMerged(theirs: String, mine: String, merged: String, other: String?) throws {
    for policy in [nil, MergePolicy.ownWins, .storedWins] {
      let (store, _, plan) = try Self.world(5)
      let form = try EditingContext(store)
      try form.edit { try Self.set(mine, $0, plan) }
      try store.write { try Self.set(theirs, $0, plan) }
      guard let policy else {
        if other == nil {
          try form.save()
        } else {
          let error = #expect(throws: AnnalsError.self) { try form.save() }
          #expect(error?.code == .conflict)
          try form.save(merging: .ownWins)
        }
        #expect(try Self.names(store, plan) == merged)
        continue
      }
      let commit = try form.save(merging: policy)
      let wanted = policy == .storedWins ? other ?? merged : merged
      #expect(try Self.names(store, plan) == wanted, "\(policy)")
      #expect(commit.conflicts.map(\.property) == (other == nil ? [] : ["items"]), "\(policy)")
    }
  }

  /// Makes the list that of the items with these names; new ones are inserted.
  private static func set(_ names: String, _ tx: WriteTransaction, _ plan: Object<Plan>) throws {
    var list: [Reference<Item>] = []
    for name in names {
      let found = try tx.object(Item.self, where: \.name, is: String(name))
      list.append(Reference(try found ?? tx.insert(Item(name: String(name)))))
    }
    try tx.update(plan) { $0.items = list }
  }

  @Test func contextsMoveAndTakeBack() throws {
    let form = try EditingContext(store, author: "me")
    let edited = try #require(try form.object(plan))
    try edited.move(\.items, fromOffsets: IndexSet(integer: 4), toOffset: 0)
    edited.items.append(edited.items.remove(at: 1))
    #expect(form.undoName == "Change items")
    try store.write { tx in
      let new = try tx.insert(Item(name: "n"))
      try tx.update(plan) { $0.items.insert(Reference(new), at: 2) }
    }
    try form.refresh()
    func names() throws -> String {
      try edited.items.map { try form.object(Item.self, $0.objectID)?.value.name ?? "?" }.joined()
    }
    #expect(try names() == "41n230")
    try form.undo()
    #expect(try names() == "401n23", "what others have inserted stays")
    try form.undo()
    #expect(try names() == "01n234")
    try form.redo()
    try form.save()
    #expect(try self.names == "401n23")
    let change = try #require(try store.transaction(store.token.number).changes.first)
    #expect(change.edits("items").moved.count == 1 && change.edits("items").inserted.count == 1)
    _ = edited
  }
}
