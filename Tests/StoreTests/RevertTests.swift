import Annals
import AnnalsModel
import Testing

/// Reverts, and what refers to objects that come and go with them.
@Suite struct RevertTests {
  private func reference(_ id: ObjectID) -> Value { .object(ObjectReference(id)) }

  /// Two accounts, and an entry that refers to them.
  private func store() throws -> (Store, a: ObjectID, b: ObjectID, entry: ObjectID) {
    let store = try Store(
      .memory,
      schema: Schema {
        Entity("Account") { Attribute("name", .string, isUnique: true) }
        Entity("Entry") {
          Attribute("text", .string)
          Relationship("account", to: "Account", onDelete: .keep)
          Relationship("others", to: "Account", isToMany: true, onDelete: .keep)
        }
      })
    let (a, b, entry) = try store.write { tx in
      let a = try tx.insert("Account", ["name": "a"])
      let b = try tx.insert("Account", ["name": "b"])
      let others: Value = .objects([ObjectReference(a), ObjectReference(b)])
      return (a, b, try tx.insert("Entry", ["account": reference(a), "others": others]))
    }
    return (store, a, b, entry)
  }

  @Test func aRevertRestoresReferencesAsTheyWere() throws {
    let (store, a, b, entry) = try store()
    // What was moved away from an object that was deleted later cannot be restored.
    try store.write { try $0.update(entry, ["account": reference(b), "text": "moved"]) }
    let moved = store.token
    try store.write { try $0.delete(a) }
    let plan = try store.revertPlan(moved)
    #expect(
      plan.conflicts.map(\.description)
        == [
          "Entry#1.account would refer to Account/a, deleted by transaction \(store.token.number)"
        ])
    let error = #expect(throws: AnnalsError.self) { try store.revert(moved) }
    #expect(error?.code == .conflict && error?.conflicts == plan.conflicts)
    // An object whose references dangled when it was deleted comes back with them.
    try store.write { try $0.delete(entry) }
    let deleted = store.token
    #expect(try store.revertPlan(deleted).conflicts.isEmpty)
    try store.revert(deleted)
    let revived = try #require(try store.snapshot().object(entry))
    #expect(revived["account"] == reference(b) && revived["text"] == "moved")
    #expect(try store.verify().filter { $0.severity == .error }.isEmpty)
    // Once what they lead to is revived, they lead there again.
    try store.revert(moved.number + 1)
    try store.revert(moved)
    #expect(try store.snapshot().object(entry)?["account"] == reference(a))
  }

  /// What refers to it comes back in the same transaction, whichever was deleted first.
  @Test(arguments: [false, true])
  func anObjectComesBackWithWhatItRefersTo(isTargetFirst: Bool) throws {
    let (store, a, b, entry) = try store()
    try store.write { tx in
      for id in isTargetFirst ? [a, b, entry] : [entry, b, a] { try tx.delete(id) }
    }
    let deleted = store.token
    let plan = try store.revertPlan(deleted)
    #expect(plan.conflicts.isEmpty && plan.revivals == 3)
    try store.revert(deleted)
    let now = store.snapshot()
    let names = try [a, b].map { try now.object($0)?["name"] }
    #expect(names == [.string("a"), .string("b")])
    let both: Value = .objects([ObjectReference(a), ObjectReference(b)])
    #expect(try now.object(entry)?["account"] == reference(a))
    #expect(try now.object(entry)?["others"] == both)
    #expect(try store.verify().filter { $0.severity == .error }.isEmpty)
    // And goes again with the revert of that.
    try store.revert(store.token)
    #expect(try store.snapshot().objects(of: "Entry").isEmpty)
    #expect(try store.snapshot().objects(of: "Account").isEmpty)
  }

  /// The transaction cleared a reference, and deleted what it led to.
  @Test func aReferenceComesBackWithWhatItLedTo() throws {
    let (store, a, b, entry) = try store()
    try store.write { tx in
      try tx.update(entry, ["account": .null, "others": .objects([ObjectReference(b)])])
      try tx.delete(a)
    }
    #expect(try store.revertPlan(store.token).conflicts.isEmpty)
    try store.revert(store.token)
    let both: Value = .objects([ObjectReference(a), ObjectReference(b)])
    #expect(try store.snapshot().object(entry)?["account"] == reference(a))
    #expect(try store.snapshot().object(entry)?["others"] == both)
    #expect(try store.verify().filter { $0.severity == .error }.isEmpty)
  }

  /// The list refers to a deleted object already; the transaction has no part in that.
  @Test func whatTheListKeptMayBeDeletedSince() throws {
    let (store, a, b, entry) = try store()
    try store.write { try $0.update(entry, ["others": .objects([ObjectReference(a)])]) }
    let updated = store.token
    try store.write { try $0.delete(a) }
    #expect(try store.revertPlan(updated).conflicts.isEmpty)
    try store.revert(updated)
    let both: Value = .objects([ObjectReference(a), ObjectReference(b)])
    #expect(try store.snapshot().object(entry)?["others"] == both)
  }
}
