import AnnalsFormat
import AnnalsInspection
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

@testable import Annals

/// Files written anew: compacted, pruned, replayed.
@Suite struct RewriteTests {
  private func store(_ path: String) throws -> Store {
    let store = try Store(
      path: path,
      schema: Schema {
        Entity("Note") {
          Attribute("id", .string, isOptional: false, isUnique: true)
          Attribute("text", .string)
        }
      }, environment: .fixed())
    for number in 0..<300 {
      try store.write(author: number.isMultiple(of: 2) ? "ann" : "bob") { tx in
        if number.isMultiple(of: 3), number > 0 {
          let last = try #require(
            try tx.object(of: "Note", where: "id", is: .string("n\(number - 1)")))
          try tx.update(
            last.objectID, ["text": .string(String(repeating: "x", count: number * 30))])
        } else {
          try tx.insert("Note", ["id": .string("n\(number)"), "text": .string("text \(number)")])
        }
      }
    }
    return store
  }

  private func states(_ store: Store, from first: Int64) throws -> [[String: Value]] {
    var result: [[String: Value]] = []
    for number in stride(from: first, through: store.token.number, by: 13) {
      let snapshot = try store.snapshot(at: number)
      result += try snapshot.objects(of: "Note").map(\.dictionary)
    }
    return result
  }

  /// A prune may begin anywhere in a block, and in one that is long enough to be copied unchanged
  /// it drops what lies before.
  @Test func pruningWithinLongBlocks() throws {
    let files = MemoryFileSystem()
    let location = StoreLocation(fileSystem: files, path: "/test.annals")
    let store = try noteStore(location)
    var random = SeededRandom(seed: 34)
    let head: Int64 = 321
    for number in 2...head {
      let text = (0..<250).map { _ in String(random.next() | 1 << 60, radix: 16) }.joined()
      try store.note("n\(number)", text: text)
    }
    let texts = try store.texts()
    try store.compact()
    let blocks = try files.regions(of: location.path).compactMap(\.frame)
      .filter { $0.header.kind == .block }
    #expect(blocks.count { $0.header.payloadLength >= 64 << 10 } > 1)
    for floor in [2, 3, 60, 150, 151, 260, head] as [Int64] {
      try store.prune(store.prunePlan(before: floor))
      #expect(store.base.number == floor - 1)
      let kept = try store.history().collect()
      #expect(kept.map(\.number) == Array(floor...head))
      #expect(kept.allSatisfy { $0.changes.count == 1 })
      for number in Set([floor - 1, floor, (floor + head) / 2, head]) {
        let found = try store.snapshot(at: number).count(of: "Note")
        #expect(found == Int(number) - 1, "\(number) of \(floor)")
      }
      #expect(try store.texts() == texts)
      #expect(try store.verify().allSatisfy { $0.severity == .note })
    }
    try store.close()
    #expect(try Store(location, creates: false).texts() == texts)
  }

  @Test(arguments: [false, true])
  func compactionNeverMakesAFileLarger(_ hasCheckpoint: Bool) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.annals")
    let store = try noteStore(.file(path))
    func bytes() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }
    try store.note("a")
    if hasCheckpoint { try store.checkpoint() }
    try store.close()
    let one = try Store(path: path)
    let before = try bytes().count
    // One small transaction gains nothing as a block.
    let nothing = try one.compact()
    #expect(!nothing.isRewritten && nothing.bytesBefore == before)
    #expect(try nothing.bytesAfter == before && bytes().count == before)
    for number in 1...40 { try one.note("\(number)", text: "some text") }
    try one.sync()
    let gained = try one.compact()
    #expect(try gained.isRewritten && gained.bytesAfter == bytes().count)
    #expect(gained.bytesAfter < gained.bytesBefore)
    // And once is enough.
    let compacted = try bytes()
    let again = try one.compact()
    #expect(!again.isRewritten && again.bytesAfter == gained.bytesAfter)
    #expect(try bytes() == compacted)
    #expect(try one.verify() == [])
  }

  @Test func compactionAndPruningKeepEveryStateFromTheBaseOn() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.annals")
    let store = try store(path)
    let before = try states(store, from: 1)
    let late = try states(store, from: 100)
    let summary = try store.compact()
    #expect(summary.isRewritten && summary.bytesAfter < summary.bytesBefore)
    #expect(try states(store, from: 1) == before)
    #expect(try store.verifyHistory() == [])
    let plan = try store.prunePlan(before: 101)
    #expect(plan.transactions == 100)
    try store.prune(plan, author: "ann")
    #expect(store.base.number == 100)
    #expect(try states(store, from: 100) == late)
    let error = #expect(throws: AnnalsError.self) { try store.snapshot(at: 50) }
    #expect(error?.code == .pruned)
    #expect(error?.gap?.prunedBy == "ann")
    #expect(try store.verifyHistory() == [])
    try store.write { _ = try $0.insert("Note", ["id": "after"]) }
    try store.close()
    let again = try Store(path: path)
    #expect(try states(again, from: 100).count >= late.count)
    #expect(try again.verifyHistory() == [])
    let copy = path + ".copy"
    try again.replay(to: copy, at: 150, flatten: true)
    let flat = try Store(path: copy)
    #expect(flat.token.number == 150)
    #expect(flat.id != again.id)
    #expect(
      try flat.snapshot().objects(of: "Note").map(\.dictionary)
        == again.snapshot(at: 150).objects(of: "Note").map(\.dictionary))
    #expect(throws: AnnalsError.self) { try again.replay(to: copy, at: 150) }
  }

  @Test func theSmallestFileStaysSmallWhenItIsClosed() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.annals")
    let size = {
      try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }
    let store = try store(path)
    // More changes than a closing store leaves without a checkpoint.
    try store.write { tx in
      for number in 0..<6_000 { try tx.insert("Note", ["id": .string("more \(number)")]) }
    }
    try store.compact(smallest: true)
    let smallest = try size()
    try store.close()
    #expect(try size() <= smallest)
    let again = try Store(path: path)
    #expect(try again.snapshot().count(of: "Note") > 6_000)
    try again.write { _ = try $0.insert("Note", ["id": "after"]) }
    try again.close()
    #expect(try size() > smallest + 10_000)
  }
}
