import Annals
import AnnalsFaults
import AnnalsModel
import Testing

@testable import AnnalsTorture

/// The workloads of the graph do what they are for, and their checks find what breaks it.
@Suite struct GraphWorkloadTests {
  private func store(_ name: String, seed: UInt64) throws -> Store {
    let workload = try #require(Workload.all.first { $0.name == name })
    let session = WorkSession(FaultyFileSystem(seed: seed), seed: seed, isRehearsing: true)
    try workload.setUp(session)
    try workload.work(session)
    return try Store(session.location, creates: false, options: .readOnly)
  }

  @Test func theyUseRulesUndoAndMerges() throws {
    var (deletes, cascades, undos, redos, groups, forms) = (0, 0, 0, 0, 0, 0)
    for seed in 1...4 as ClosedRange<UInt64> {
      for name in ["graph", "undo", "contexts"] {
        let store = try store(name, seed: seed)
        try store.requireSoundGraph()
        try store.history().forEach { transaction in
          let gone = transaction.changes.count { $0.kind == .delete && $0.entityName != "Note" }
          deletes += gone
          if gone > 1 { cascades += 1 }
          if let numbers = transaction.undoes {
            undos += 1
            if numbers.count > 1 { groups += 1 }
          }
          if transaction.redoes != nil { redos += 1 }
          if transaction.author == "form" { forms += 1 }
        }
      }
    }
    #expect(deletes > 20 && cascades > 3, "\(deletes) \(cascades)")
    #expect(undos > 10 && redos > 4 && groups > 1, "\(undos) \(redos) \(groups)")
    #expect(forms > 8, "\(forms)")
  }

  @Test func anUndoThatIsNotNextIsFound() throws {
    let store = try store("undo", seed: 1)
    var stacks = NaiveUndoStacks()
    var undo: Transaction?
    try store.history().forEach { if $0.undoes != nil { undo = $0 } }
    let last = try #require(undo)
    #expect(throws: BrokenPromise.self) { try stacks.add(last) }
  }
}
