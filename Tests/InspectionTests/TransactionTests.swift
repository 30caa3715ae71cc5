import AnnalsDescription
import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsSalvage
import Testing

@Suite struct ReadableTransactionTests {
  /// What can be read, as text: `1 2-4 5 6.0 6.1 !7-7 8`.
  private func outline(_ bytes: ContiguousArray<UInt8>) throws -> String {
    var cursor = try ReadableTransactions(bytes.opened())
    var parts: [String] = []
    while let item = try cursor.next() {
      switch item {
      case .transactions:
        guard let first = cursor.batch.transactions.first,
          let last = cursor.batch.transactions.last
        else { continue }
        let isPart = first.part > 0 || first.isContinued
        parts.append(
          isPart
            ? "\(first.number).\(first.part)"
            : first.number == last.number ? "\(first.number)" : "\(first.number)-\(last.number)")
      case .hole(let hole):
        let last = hole.last.map { "\($0)" } ?? "?"
        parts.append("!\(hole.first.map { "\($0)" } ?? "?")-\(last)")
      }
    }
    return parts.joined(separator: " ")
  }

  @Test func ofASoundFile() throws {
    #expect(try outline(SampleStore.complete().bytes) == "1 2-4 5 6.0 6.1 7 8")
  }

  @Test func holesAreNamed() throws {
    let file = SampleStore.complete()
    let frames = try regions(in: file.bytes).filter { $0.frame != nil }
    func damaged(_ frame: Int, byte: Int = 30) throws -> String {
      try outline(file.bytes.flipping(bit: 2, ofByte: Int(frames[frame].offset) + byte))
    }
    #expect(try damaged(0) == "!1-1 2-4 5 6.0 6.1 7 8")
    #expect(try damaged(1) == "1 !2-4 5 6.0 6.1 7 8")
    #expect(try damaged(1, byte: 3) == "1 !2-4 5 6.0 6.1 7 8")
    #expect(try damaged(5) == "1 2-4 5 !6-6 7 8")
    #expect(try damaged(6) == "1 2-4 5 !6-6 7 8")
    #expect(try damaged(7) == "1 2-4 5 6.0 6.1 !7-7 8")
    #expect(try damaged(15) == "1 2-4 5 6.0 6.1 7 !8-?")
    // The second piece of the large value, a chunk: no transaction is lost.
    #expect(try damaged(3) == "1 2-4 5 6.0 6.1 7 8")
    #expect(try damaged(8) == "1 2-4 5 6.0 6.1 7 8")
  }

  @Test func withoutAHeader() throws {
    var bytes = SampleStore.complete().bytes
    for index in 0..<12_288 { bytes[index] = 0xEE }
    #expect(try outline(bytes) == "1 2-4 5 6.0 6.1 7 8")
  }

  @Test func everyFlipEnds() throws {
    let bytes = SampleStore.complete().bytes
    for index in Int(FormatLimits.logStart)..<bytes.count {
      let text = try outline(bytes.flipping(bit: index % 8, ofByte: index))
      // What is lost is named.
      #expect(text == "1 2-4 5 6.0 6.1 7 8" || text.contains("!"), "byte \(index): \(text)")
    }
  }
}

@Suite struct StatisticsTests {
  @Test func everyByteIsCountedOnce() throws {
    for bytes in [
      SampleStore.complete().bytes, SampleStore.small(3).bytes,
      ContiguousArray(SampleStore.complete().bytes.prefix(13_000)), [1, 2, 3],
    ] {
      let statistics = try statistics(of: bytes)
      #expect(statistics.bytesByUse.values.reduce(0, +) == UInt64(bytes.count))
    }
  }

  @Test func counts() throws {
    let statistics = try statistics(of: SampleStore.complete().bytes)
    #expect(statistics.transactions == 8)
    #expect(statistics.emptyTransactions == 1)
    #expect(statistics.changesByKind == [.insert: 4, .update: 4, .delete: 1])
    #expect(statistics.authors.map(\.name) == ["Safari"])
    #expect(statistics.openings == 1)
    #expect(statistics.earliest == SampleStore.record(1).timestamp)
    #expect(statistics.latest == SampleStore.record(8).timestamp)
    #expect(statistics.bytesByUse[.dead] == 0 || statistics.bytesByUse[.dead] == nil)
    let picture = statistics.shares.first { $0.propertyName == "picture" }
    #expect(picture?.largeValueBytes == 400)
    #expect(statistics.shares.contains { $0.entityName == "Tag" && $0.propertyName == "name" })
  }
}
