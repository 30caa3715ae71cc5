import Annals
import AnnalsModel
import AnnalsTestSupport
import Testing

/// What delete rules do is recorded in an order that depends on the objects alone, whatever the
/// order in which they were deleted.
@Suite struct EffectOrderTests {
  @Test(arguments: 1...6 as ClosedRange<UInt64>) func effectsAreInOneOrder(_ seed: UInt64) throws {
    var orders: Set<[Int64]> = []
    for round in 0..<4 {
      var random = SeededRandom(seed: seed)
      let store = try Graph.store { Relationship($0, to: "Node", onDelete: .cascade) }
      let nodes = try store.nodes((0..<24).map { "n\($0)" })
      // The first four are roots; the others are in one before them.
      try store.write { tx in
        for place in 4..<nodes.count {
          let owner = ObjectReference(nodes[random.below(place)])
          try tx.update(nodes[place], ["to": .object(owner)])
        }
      }
      var roots = Array(nodes.prefix(3))
      var shuffling = SeededRandom(seed: seed + UInt64(round) * 100)
      roots.shuffle(using: &shuffling)
      try store.write { tx in for root in roots { try tx.delete(root) } }
      let rows = try store.transaction(store.token.number).changes.map(\.objectID.row)
      #expect(Array(rows.suffix(3)) == roots.map(\.row), "seed \(seed), round \(round)")
      orders.insert(Array(rows.dropLast(3)))
      #expect(try store.problems() == [])
    }
    #expect(orders.count == 1, "seed \(seed): \(orders)")
  }
}
