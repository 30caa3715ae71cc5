import Annals
import AnnalsModel
import Testing

/// Every policy with every pair of things that two sides can do to one object.
@Suite struct MergeTableTests {
  /// What one side does to a note with the text "base" and the count 0.
  enum Side: CaseIterable {
    case nothing, text, sameText, count, both, clearing, delete, list

    func act(on note: ObjectID, _ name: String, _ tx: WriteTransaction) throws {
      switch self {
      case .nothing: break
      case .text: try tx.update(note, ["text": .string(name)])
      case .sameText: try tx.update(note, ["text": "same"])
      case .count: try tx.update(note, ["count": .int(Int64(name.count))])
      case .both: try tx.update(note, ["text": .string(name), "count": .int(Int64(name.count))])
      case .clearing: try tx.update(note, ["text": .null])
      case .delete: try tx.delete(note)
      case .list:
        let folder = try tx.insert("Folder", ["name": .string("folder of \(name)")])
        try tx.update(
          note, ["folder": .object(ObjectReference(folder))])
      }
    }
  }

  @Test(arguments: MergePolicy.allCases)
  func theResultIsThatOfTheTable(_ policy: MergePolicy) throws {
    for mine in Side.allCases {
      for theirs in Side.allCases { try check(policy, mine, theirs) }
    }
  }

  private func check(_ policy: MergePolicy, _ mine: Side, _ theirs: Side) throws {
    let file = memoryFile()
    let store = try noteStore(file)
    let other = try noteStore(file, seed: 2)
    let note = try store.write {
      try $0.insert("Note", ["id": "a", "text": "base", "count": 0])
    }
    let seen = store.token
    let base = try store.row(note)
    try other.write(author: "them") { try theirs.act(on: note, "theirs", $0) }
    let stored = try other.row(note)
    // What the write would have made alone.
    let alone = try noteStore()
    try alone.write { try $0.insert("Note", ["id": "a", "text": "base", "count": 0]) }
    if theirs == .list { try alone.write { try $0.insert("Folder", ["name": "taken"]) } }
    let twin = ObjectID(store: alone.token.store, entity: note.entity, row: note.row)
    try alone.write { try mine.act(on: twin, "my own", $0) }
    let own = try alone.row(twin)

    let place = "\(policy), mine \(mine), theirs \(theirs)"
    let head = other.token.number
    let wanted = NaiveWorld.merge(policy, base: base, own: own, stored: stored)
    do {
      let commit = try store.commit(author: "me", basedOn: seen, merging: policy) { tx in
        #expect(try tx.object(note)?["text"] == "base", "\(place): the closure reads the old state")
        try mine.act(on: note, "my own", tx)
      }
      guard let wanted else { throw Mismatch("\(place): no conflict") }
      #expect(try store.row(note) == wanted, "\(place)")
      let isChanged = wanted != stored || mine == .list
      #expect(commit.token.number == head + (isChanged ? 1 : 0), "\(place)")
      let hasLoss = [base, own, stored].allSatisfy { $0 != nil } ? nil : wanted != stored
      if own == base || stored == base || own == stored {
        #expect(commit.conflicts.isEmpty, "\(place)")
      } else if hasLoss != nil {
        #expect(!commit.conflicts.isEmpty, "\(place)")
      }
    } catch let error as AnnalsError {
      #expect(wanted == nil && error.code == .conflict, "\(place): \(error)")
      #expect(store.token.number == head, "\(place)")
      #expect(try store.row(note) == stored, "\(place)")
      try requireListed(error.conflicts, base, own, stored, place)
    }
    #expect(try store.verify().allSatisfy { $0.severity == .note }, "\(place)")
  }

  /// The error lists each property in which the two sides differ, with three values.
  private func requireListed(
    _ conflicts: [PropertyConflict], _ base: NaiveWorld.Row?, _ own: NaiveWorld.Row?,
    _ stored: NaiveWorld.Row?, _ place: String
  ) throws {
    // Of a deleted object those are listed that the other side has changed.
    let (a, b) = own == nil ? (base, stored) : stored == nil ? (base, own) : (own, stored)
    let names = ["count", "folder", "id", "text"].filter { a?[$0] != b?[$0] }
    #expect(conflicts.compactMap(\.property).sorted() == names, "\(place)")
    for conflict in conflicts {
      let name = try #require(conflict.property)
      for (told, row) in [(conflict.base, base), (conflict.own, own), (conflict.stored, stored)] {
        // The folder of the twin has the same row.
        #expect(told == row.map { $0[name] ?? .null }, "\(place), \(conflict)")
      }
      #expect(conflict.isDeletion == (stored == nil), "\(place)")
      #expect(conflict.objectName == "Note/a", "\(place)")
    }
  }
}

extension Store {
  /// What an object holds; nil if it is not there.
  fileprivate func row(_ object: ObjectID) throws -> NaiveWorld.Row? {
    try snapshot().object(object).map { found in
      var row: NaiveWorld.Row = [:]
      for name in ["id", "text", "count", "folder"] where !found[name].isNull {
        row[name] = found[name]
      }
      return row
    }
  }
}
