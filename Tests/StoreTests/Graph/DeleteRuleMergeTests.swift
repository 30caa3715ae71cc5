import Annals
import AnnalsModel
import Testing

/// Deletions with effects beside changes of others: a deletion and what follows from it stand or
/// fall together.
@Suite struct DeleteRuleMergeTests {
  private let store: Store
  private let parent: ObjectID
  private let child: ObjectID
  private let other: ObjectID
  private let seen: Token

  init() throws {
    store = try Graph.store { Relationship($0, to: "Node", onDelete: .cascade) }
    let nodes = try store.nodes(["parent", "child", "other"])
    (parent, child, other) = (nodes[0], nodes[1], nodes[2])
    try store.connect([child: parent])
    seen = store.token
  }

  private func deleteParent(_ policy: MergePolicy?) throws -> Commit<Void> {
    try store.commit(basedOn: seen, merging: policy) { try $0.delete(parent) }
  }

  @Test func aNewChildGoesWithItsParentOrKeepsIt() throws {
    try store.write {
      try $0.insert("Node", ["name": "late", "to": .object(ObjectReference(parent))])
    }
    let error = #expect(throws: AnnalsError.self) { _ = try deleteParent(.error) }
    #expect(error?.code == .conflict)
    #expect(error?.conflicts.map(\.objectName) == ["Node/late"])
    let kept = try deleteParent(.storedWins)
    #expect(try store.names() == ["parent", "child", "other", "late"])
    #expect(kept.conflicts.map(\.objectName) == ["Node/late"])
    #expect(kept.conflicts.map(\.property) == ["to"])
    let gone = try deleteParent(.ownWins)
    #expect(try store.names() == ["other"])
    #expect(gone.conflicts.map(\.objectName) == ["Node/late"])
    #expect(try store.problems() == [])
  }

  @Test func aChangedChildGoesWithItsParentOrKeepsIt() throws {
    try store.write { try $0.update(child, ["count": 1]) }
    #expect(throws: AnnalsError.self) { _ = try deleteParent(.error) }
    #expect(throws: AnnalsError.self) {
      try store.write(basedOn: seen) { try $0.delete(parent) }
    }
    _ = try deleteParent(.rollBack)
    #expect(try store.names() == ["parent", "child", "other"])
    #expect(try store.targets(of: child) == [ObjectReference(parent)])
    _ = try deleteParent(.overwrite)
    #expect(try store.names() == ["other"])
  }

  @Test func aChangedParentKeepsItsChildren() throws {
    try store.write { try $0.update(parent, ["count": 1]) }
    _ = try deleteParent(.storedWins)
    #expect(try store.names() == ["parent", "child", "other"])
    _ = try deleteParent(.ownWins)
    #expect(try store.names() == ["other"])
  }

  @Test func aMovedChildStays() throws {
    try store.connect([child: other])
    let commit = try deleteParent(.storedWins)
    // The child is no longer the parent's; but it was changed, and would have gone.
    #expect(try store.names() == ["parent", "child", "other"])
    #expect(!commit.conflicts.isEmpty)
  }

  @Test func aNewReferenceToWhatOthersDeleted() throws {
    try store.write { try $0.delete(parent) }
    #expect(try store.names() == ["other"])
    func insert(_ policy: MergePolicy) throws -> Commit<ObjectID> {
      try store.commit(basedOn: seen, merging: policy) {
        try $0.insert("Node", ["name": "late", "to": .object(ObjectReference(parent))])
      }
    }
    let error = #expect(throws: AnnalsError.self) { _ = try insert(.error) }
    #expect(error?.code == .conflict)
    let dropped = try insert(.storedWins)
    #expect(try store.names() == ["other"])
    #expect(dropped.conflicts.map(\.property) == ["to"])
    _ = try insert(.ownWins)
    #expect(try store.names() == ["parent", "other", "late"])
    #expect(try store.problems() == [])
  }

  /// A list loses what others have deleted, and keeps the others, whatever its rule.
  @Test(arguments: [DeleteRule.cascade, .nullify], [false, true])
  func aListKeepsWhatIsLeft(_ rule: DeleteRule, isNew: Bool) throws {
    let store = try Graph.store {
      Relationship($0, to: "Node", isToMany: true, isOrdered: true, onDelete: rule)
    }
    let nodes = try store.nodes(["a", "b", "c", "list"])
    let refs = nodes.map { ObjectReference($0) }
    try store.write { try $0.update(nodes[3], ["to": .objects([refs[2]])]) }
    let seen = store.token
    try store.write { try $0.delete(nodes[0]) }
    let commit = try store.commit(basedOn: seen, merging: .storedWins) { tx in
      let all: Value = .objects(Array(refs[..<3]))
      guard isNew else { return try tx.update(nodes[3], ["to": all]) }
      _ = try tx.insert("Node", ["name": "late", "to": all])
    }
    #expect(commit.conflicts.map(\.property) == ["to"])
    #expect(try store.names() == ["b", "c", "list"] + (isNew ? ["late"] : []))
    let list = try store.snapshot().objects(of: "Node").last
    #expect(list?["to"].targets == Array(refs[1..<3]))
    #expect(try store.problems() == [])
  }

  /// The parent went with its own parent: what is revived refers to nothing that is gone.
  @Test func aRevivedParentComesWithItsOwn() throws {
    let ancestors = try store.nodes(["grand", "great"])
    try store.connect([parent: ancestors[0], ancestors[0]: ancestors[1]])
    let seen = store.token
    try store.write { try $0.delete(ancestors[1]) }
    #expect(try store.names() == ["other"])
    try store.write(basedOn: seen, merging: .ownWins) {
      _ = try $0.insert("Node", ["name": "late", "to": .object(ObjectReference(parent))])
    }
    #expect(try store.names() == ["parent", "other", "grand", "great", "late"])
    #expect(try store.problems() == [])
  }

  @Test func aClearedReferenceThatOthersChangedIsAConflictOfTheProperty() throws {
    let store = try Graph.store { Relationship($0, to: "Node", onDelete: .nullify) }
    let nodes = try store.nodes(["a", "b", "c"])
    try store.connect([nodes[1]: nodes[0]])
    let seen = store.token
    try store.connect([nodes[1]: nodes[2]])
    let commit = try store.commit(basedOn: seen, merging: .storedWins) { try $0.delete(nodes[0]) }
    #expect(commit.conflicts.map(\.property) == ["to"])
    #expect(try store.names() == ["b", "c"])
    #expect(try store.targets(of: nodes[1]) == [ObjectReference(nodes[2])])
    try store.revert(store.token)
    _ = try store.commit(basedOn: seen, merging: .ownWins) { try $0.delete(nodes[0]) }
    #expect(try store.targets(of: nodes[1]) == [])
    #expect(try store.problems() == [])
  }
}
