import Annals
import AnnalsModel
import Testing

/// What both sides have moved in an ordered list is a conflict only if they have put it behind
/// different objects.
@Suite struct SamePlaceTests {
  private func merge(
    _ base: [Int], own: [Int], stored: [Int], _ policy: MergePolicy?
  ) throws -> (list: [Int], conflicts: Int)? {
    let store = try Store(
      .memory,
      schema: Schema {
        Entity("Node") {
          Relationship("list", to: "Node", isToMany: true, isOrdered: true, onDelete: .keep)
        }
      }, environment: .fixed())
    func value(_ rows: [Int]) -> Value {
      .objects(rows.map { ObjectReference(entity: 1, row: Int64($0)) })
    }
    let node = try store.write { tx in
      for _ in 1...6 { try tx.insert("Node") }
      return try tx.insert("Node", ["list": value(base)])
    }
    let form = try EditingContext(store)
    try form.update(node, ["list": value(own)])
    try store.write { try $0.update(node, ["list": value(stored)]) }
    do {
      let commit = try form.save(merging: policy)
      let list = try store.snapshot().object(node)?["list"].targets.map { Int($0.row) } ?? []
      return (list, commit.conflicts.count)
    } catch let error as AnnalsError where error.code == .conflict {
      return nil
    }
  }

  @Test func oneBehindTheSameObjectIsNone() throws {
    for policy in [nil, .storedWins, .ownWins] as [MergePolicy?] {
      for (base, own, stored, list) in [
        // To the front.
        ([1, 2, 3, 4], [4, 1, 3], [4, 1, 2, 3, 5], [4, 1, 3, 5]),
        // Behind the first.
        ([1, 2, 3, 4], [1, 4, 2], [1, 4, 2, 3, 5], [1, 4, 2, 5]),
        // To the end.
        ([1, 2, 3, 4], [2, 3, 4, 1], [2, 3, 4, 1, 6], [2, 3, 4, 1, 6]),
      ] {
        let found = try merge(base, own: own, stored: stored, policy)
        #expect(found?.list == list && found?.conflicts == 0, "\(own), \(stored)")
      }
    }
  }

  @Test func oneBehindAnotherObjectIsOne() throws {
    let (base, own, stored) = ([1, 2, 3, 4], [4, 1, 2, 3], [1, 4, 2, 3])
    #expect(try merge(base, own: own, stored: stored, nil) == nil)
    for (policy, list) in [(MergePolicy.storedWins, stored), (.ownWins, own)] {
      let found = try merge(base, own: own, stored: stored, policy)
      #expect(found?.list == list && found?.conflicts == 1, "\(policy)")
    }
  }
}
