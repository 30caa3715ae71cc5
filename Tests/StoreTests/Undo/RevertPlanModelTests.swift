import Annals
import AnnalsModel
import AnnalsTestSupport
import Testing

/// Plans of reverts tell what reverts do: each transaction of random graphs with delete rules.
@Suite struct RevertPlanModelTests {
  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func aPlanIsWhatIsDone(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let store = try Graph.store { Relationship($0, to: "Node", onDelete: .cascade) }
    for step in 0..<40 { try store.write { try edit($0, step, &random) } }
    for number in 2...store.token.number {
      let plan = try store.revertPlan(number)
      let head = store.token.number
      do {
        try store.revert(number)
      } catch let error as AnnalsError {
        #expect(plan.refusal()?.code == error.code || error.code == .invalidChange)
        continue
      }
      var done = [0, 0, 0]
      if store.token.number > head {
        for change in try store.transaction(store.token.number).changes {
          done[change.kind == .delete ? 0 : change.kind == .update ? 1 : 2] += 1
        }
        try store.revert(store.token)
      }
      #expect(
        [plan.deletions, plan.updates, plan.revivals] == done,
        "seed \(seed), transaction \(number): \(plan)")
      #expect(
        "\(plan)" == "undoes transaction \(number): " + text(done[0], "deletion") + ", "
          + text(done[1], "update") + ", " + text(done[2], "revival"))
    }
    #expect(try store.problems() == [])
  }

  /// What a transaction has changed, and goes by a rule with what it inserted, is deleted and not
  /// updated.
  @Test func whatIsSetBackAndDeletedIsDeleted() throws {
    let store = try Graph.store { Relationship($0, to: "Node", onDelete: .cascade) }
    let nodes = try store.nodes(["a", "b"])
    let parent = try store.write { tx in
      try tx.update(nodes[0], ["count": 1])
      try tx.update(nodes[1], ["count": 1])
      return try tx.insert("Node", ["name": "parent"])
    }
    let number = store.token.number
    try store.connect([nodes[0]: parent])
    let plan = try store.revertPlan(number)
    #expect([plan.deletions, plan.updates, plan.revivals] == [2, 1, 0], "\(plan)")
    try store.revert(number)
    let kinds = try store.transaction(store.token.number).changes.map(\.kind)
    #expect(kinds.count { $0 == .delete } == 2 && kinds.count { $0 == .update } == 1)
  }

  /// What a transaction has deleted, and would go again by a rule with what it inserted, is neither
  /// revived nor updated.
  @Test func whatIsRevivedAndGoesAgainIsNotCounted() throws {
    let store = try Graph.store { Relationship($0, to: "Node", onDelete: .cascade) }
    let nodes = try store.nodes(["a", "c"])
    try store.connect([nodes[0]: nodes[1]])
    let inserted = try store.write { tx in
      try tx.delete(nodes[0])
      return try tx.insert("Node", ["name": "b"])
    }
    let number = store.token.number
    try store.connect([nodes[1]: inserted])
    let plan = try store.revertPlan(number)
    #expect([plan.deletions, plan.updates, plan.revivals] == [2, 0, 0], "\(plan)")
    try store.revert(number)
    let kinds = try store.transaction(store.token.number).changes.map(\.kind)
    #expect(kinds == [.delete, .delete])
  }

  private func text(_ count: Int, _ noun: String) -> String {
    count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
  }

  /// Inserts and updates some nodes, and at times deletes one. What a transaction inserts is what
  /// it, and later ones, let others refer to.
  private func edit(_ tx: WriteTransaction, _ step: Int, _ random: inout SeededRandom) throws {
    let made = try tx.insert("Node", ["name": .string("n\(step)")])
    let nodes = try tx.objects(of: "Node").map(\.objectID)
    for _ in 0..<random.below(4) {
      let node = nodes[random.below(nodes.count)]
      switch random.below(4) {
      case 0: try tx.update(node, ["count": .int(Int64(step))])
      case 1: try tx.update(node, ["to": .object(ObjectReference(made))])
      default:
        let target = nodes[random.below(nodes.count)]
        try tx.update(node, ["to": .object(ObjectReference(target))])
      }
    }
    if random.below(5) == 0 { try tx.delete(nodes[random.below(nodes.count)]) }
  }
}
