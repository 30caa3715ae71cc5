import AnnalsReplication
import AnnalsTestSupport
import Foundation
import Testing

/// What every shared log promises, tried on the one in memory. Each test makes an empty log.
@Suite struct SharedLogTests {
  private func empty() -> any SharedLog { InMemorySharedLog(longestRecord: 100, longestPiece: 50) }

  private func record(_ name: String) -> SharedRecord {
    SharedRecord(id: name, bytes: Array(name.utf8))
  }

  /// Appends records, each after the one before.
  private func fill(_ log: any SharedLog, _ names: [String]) async throws -> SharedLogEnd {
    var end = SharedLogEnd.beginning
    for name in names {
      end = SharedLogEnd(sequence: try await log.append(record(name), after: end), id: name)
    }
    return end
  }

  private func failure(_ body: () async throws -> Void) async -> SharedLogError? {
    do {
      try await body()
      return nil
    } catch {
      return error as? SharedLogError
    }
  }

  @Test func onlyWhoKnowsTheLastRecordAppends() async throws {
    let log = empty()
    let end = try await fill(log, ["a", "b"])
    #expect(end == SharedLogEnd(sequence: 2, id: "b"))
    for wrong in [
      SharedLogEnd.beginning, SharedLogEnd(sequence: 1, id: "a"),
      SharedLogEnd(sequence: 3, id: "b"),
      SharedLogEnd(sequence: 2, id: "a"),
    ] {
      let error = await failure { _ = try await log.append(record("c"), after: wrong) }
      #expect(error == .behind(last: 2), "\(wrong)")
    }
    #expect(try await log.append(record("c"), after: end) == 3)
    let long = SharedRecord(id: "long", bytes: [UInt8](repeating: 0, count: 101))
    let error = await failure {
      _ = try await log.append(long, after: SharedLogEnd(sequence: 3, id: "c"))
    }
    #expect(error == .tooLong(limit: 100))
  }

  @Test func aRecordThatIsSentAgainIsThereOnce() async throws {
    let log = empty()
    _ = try await fill(log, ["a", "b", "c"])
    #expect(try await log.append(record("b"), after: SharedLogEnd(sequence: 1, id: "a")) == 2)
    #expect(try await log.records(from: 1, limit: 9).records.count == 3)
  }

  @Test func ofManyOneIsTheNext() async throws {
    let log = empty()
    let end = try await fill(log, ["a"])
    let taken = await withTaskGroup(of: Bool.self) { group in
      for index in 0..<20 {
        group.addTask { (try? await log.append(self.record("\(index)"), after: end)) != nil }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(taken == 1)
    #expect(try await log.records(from: 1, limit: 99).last == 2)
  }

  @Test func pages() async throws {
    let log = empty()
    let page = try await log.records(from: 1, limit: 5)
    #expect(page.records.isEmpty && page.first == 1 && page.last == 0)
    _ = try await fill(log, ["a", "b", "c", "d", "e"])
    let some = try await log.records(from: 2, limit: 3)
    #expect(some.records.map(\.sequence) == [2, 3, 4])
    #expect(some.records.map(\.record) == ["b", "c", "d"].map(record))
    #expect(some.first == 1 && some.last == 5)
    #expect(try await log.records(from: 6, limit: 3).records.isEmpty)
  }

  @Test func whatWasTrimmedKeepsItsNumbers() async throws {
    let log = empty()
    let end = try await fill(log, ["a", "b", "c"])
    try await log.trim(before: 3)
    let page = try await log.records(from: 1, limit: 9)
    #expect(page.records.map(\.sequence) == [3] && page.first == 3 && page.last == 3)
    try await log.trim(before: 4)
    let rest = try await log.records(from: 1, limit: 9)
    #expect(rest.records.isEmpty && rest.first == 4 && rest.last == 3)
    #expect(try await log.append(record("d"), after: end) == 4)
    try await log.trim(before: 2)
    #expect(try await log.records(from: 1, limit: 9).first == 4)
    // More than there is, however much.
    try await log.trim(before: .max)
    #expect(try await log.records(from: 1, limit: 9).first == 5)
  }

  @Test func growthIsTold() async throws {
    let log = empty()
    let end = try await fill(log, ["a"])
    var growth = log.growth(after: 0).makeAsyncIterator()
    #expect(await growth.next() == 1)
    let later = log.growth(after: 1)
    _ = try await log.append(record("b"), after: end)
    var iterator = later.makeAsyncIterator()
    #expect(await iterator.next() == 2)
  }

  @Test func objectsAreThereWholeOrNotAtAll() async throws {
    let log = empty()
    let bytes = (0..<120).map { UInt8($0) }
    let object = SharedObject(
      name: "kind/one", length: 120, pieceLength: 50, digest: Digest(of: bytes), details: [1, 2])
    #expect(object.pieceCount == 3)
    try await log.put(Array(bytes[0..<50]), at: 0, of: object.name)
    try await log.put([9], at: 2, of: object.name)
    try await log.put(Array(bytes[50..<100]), at: 1, of: object.name)
    #expect(try await log.objects(beginning: "kind/").isEmpty)
    let early = await failure { _ = try await log.pieces(0..<1, of: object) }
    guard case .missing = early else { throw TestFailure("\(String(describing: early))") }
    // A piece that is put again is replaced.
    try await log.put(Array(bytes[100...]), at: 2, of: object.name)
    try await log.complete(object)
    #expect(try await log.objects(beginning: "kind/") == [object])
    #expect(try await log.objects(beginning: "other/").isEmpty)
    #expect(try await Array(log.pieces(0..<3, of: object).joined()) == bytes)
    #expect(try await log.pieces(2..<9, of: object) == [Array(bytes[100...])])
    let none = await failure { _ = try await log.pieces(3..<4, of: object) }
    guard case .missing = none else { throw TestFailure("\(String(describing: none))") }
    let long = await failure {
      try await log.put([UInt8](repeating: 0, count: 51), at: 0, of: "x")
    }
    #expect(long == .tooLong(limit: 50))
    try await log.remove(object: object.name)
    try await log.remove(object: object.name)
    #expect(try await log.objects(beginning: "").isEmpty)
  }
}

/// The faults of the log in memory: each happens, and the same seed does the same again.
@Suite struct LogFaultTests {
  private func run(_ faults: LogFaults) async -> [String] {
    let log = InMemorySharedLog(faults: faults)
    var seen: [String] = []
    for index in 0..<60 {
      let contents = log.contents
      let end = SharedLogEnd(sequence: contents.last, id: contents.records.last?.id)
      do {
        let record = SharedRecord(id: "\(index)", bytes: [1])
        seen.append("taken \(try await log.append(record, after: end))")
      } catch {
        seen.append("\(error), then \(log.contents.last - contents.last)")
      }
      do {
        let page = try await log.records(from: 1, limit: 5)
        let sequences = page.records.map(\.sequence)
        seen.append("page \(sequences)" + (sequences == sequences.sorted() ? "" : " disordered"))
      } catch {
        seen.append("\(error)")
      }
    }
    return seen
  }

  @Test func eachHappensAndTheSameAgain() async throws {
    let seen = await run(.all(0.3, seed: 5))
    #expect(await run(.all(0.3, seed: 5)) == seen)
    #expect(await run(.all(0.3, seed: 6)) != seen)
    for text in [
      "unavailable(\"the dice", "the request was lost\"), then 0", "the request is on its way",
      "the acknowledgement was lost\"), then 1", "disordered",
    ] { #expect(seen.contains { $0.contains(text) }, "\(text)") }
    #expect(seen.contains { $0.hasPrefix("page") && $0.count(where: { $0 == "," }) == 5 })
  }

  @Test func withoutFaultsNothingHappens() async throws {
    let seen = await run(LogFaults())
    #expect(seen.allSatisfy { $0.hasPrefix("taken") || $0.hasPrefix("page [1") })
  }
}
