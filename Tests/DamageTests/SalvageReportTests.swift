import Annals
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsSalvage
import AnnalsTestSupport
import Testing

/// What the report of a salvage says of what nobody can know for certain.
@Suite struct SalvageReportTests {
  /// Where the frame of the transaction begins that is so many records behind the first.
  private func record(_ index: Int, in bytes: ContiguousArray<UInt8>) throws -> Int {
    let records = try frameList(bytes).filter { $0.kind == .transaction || $0.kind == .block }
    return Int(records[index].offset)
  }

  /// A slot proves the head at its writing: a store that was killed may have gone on.
  @Test func aKilledStoreMayHaveHadMore() throws {
    let bytes = try SampleFile.open.make()
    let place = try record(2, in: bytes)
    let cuts = [place, place + 30]
    for cut in cuts {
      let (report, store) = try SalvageLab.salvage(ContiguousArray(bytes.prefix(cut)))
      #expect(report.lost.map(\.numbers) == [3...8], "\(report.lines())")
      #expect(report.lost[0].reason.hasSuffix("; more may be missing after them"))
      #expect(report.rest?.bytes == 0)
      #expect(
        report.lines().contains {
          $0.hasPrefix("perhaps lost: everything after transaction 8 (the file was cut to \(cut)")
            && $0.hasSuffix("and had not been closed)")
        }, "\(report.lines())")
      #expect(
        try store.history().collect().compactMap(\.lost).map(\.reason) == [
          report.lost[0].reason
        ])
    }
    var zeros = bytes
    for index in place..<bytes.count { zeros[index] = 0 }
    let (report, _) = try SalvageLab.salvage(zeros)
    #expect(report.lost.map(\.numbers) == [3...8])
    #expect(report.rest != nil, "\(report.lines())")
    // Cut between two frames behind the slot's head: nothing else says that more was there.
    let last = try record(9, in: bytes)
    let (behind, _) = try SalvageLab.salvage(ContiguousArray(bytes.prefix(last)))
    #expect(behind.lost.isEmpty && behind.head == 9 && behind.rest != nil, "\(behind.lines())")
  }

  @Test func aClosedStoreHadNoMore() throws {
    let bytes = try SampleFile.closed.make()
    let place = try record(2, in: bytes)
    let (report, _) = try SalvageLab.salvage(ContiguousArray(bytes.prefix(place)))
    #expect(report.lost.map(\.numbers) == [3...11], "\(report.lines())")
    #expect(report.rest == nil && !report.lost[0].reason.contains("more may be gone"))
  }

  /// Objects of which later transactions tell everything are not counted as possibly stale.
  @Test func whatIsToldLaterIsNotStale() throws {
    let location = try sampleFile()
    let schema = Schema {
      Entity("Event") {
        Attribute("name", .string)
        Attribute("count", .int64)
      }
      Entity("Day") {
        Relationship("events", to: "Event", isToMany: true, isOrdered: true, onDelete: .keep)
      }
    }
    let store = try Store(location, schema: schema, environment: .fixed(seed: 4))
    var events: [ObjectID] = []
    var days: [ObjectID] = []
    try store.write { tx in
      for name in ["a", "b", "c", "d", "e"] {
        events.append(try tx.insert("Event", ["name": .string(name), "count": 0]))
        days.append(try tx.insert("Day", [:]))
      }
    }
    let all = Value.objects(events.map { ObjectReference($0) })
    try store.write { tx in
      for index in events.indices {
        try tx.update(events[index], ["count": 1])
        try tx.update(days[index], ["events": all])
      }
    }
    try store.write { tx in
      // All of a and c, and of d as it goes; one value of b, nothing of e; edits of a list.
      for index in [0, 2] { try tx.update(events[index], ["name": "new", "count": 2]) }
      try tx.update(events[1], ["count": 2])
      try tx.delete(events[3])
      try tx.update(days[0], ["events": .null])
    }
    var bytes = try location.contents()
    bytes[try record(2, in: bytes) + 30] ^= 1
    let (report, salvaged) = try SalvageLab.salvage(bytes)
    #expect(report.lost.map(\.numbers) == [3...3])
    #expect(report.lost[0].stale.map(\.objects) == [2, 5], "\(report.lines())")
    #expect(try salvaged.snapshot().objects(of: "Event").count == 4)
  }

  /// Nothing is left of what was before: no object can be stale, but all may be missing.
  @Test func aWholeStateThatIsLost() throws {
    var bytes = try SampleFile.pruned.make()
    for frame in try frameList(bytes) where frame.kind == .checkpoint {
      bytes[Int(frame.offset) + 30] ^= 1
    }
    let (report, _) = try SalvageLab.salvage(bytes)
    let line = try #require(report.lines().first)
    let text = "; 2 objects of Note, 1 object of lost entity 2 may be incomplete"
    #expect(line.contains(text + "; objects that only they mentioned are missing ("), "\(line)")
  }

  /// What was there before the gap is deleted behind it, and the delete says what it was.
  @Test func noObjectCanBeStale() throws {
    for isDeleted in [true, false] {
      let bytes = try CraftedStore.bytesBehindOne {
        try $0.transaction(9, text: "of nothing", kind: .update)
        try $0.append(ChangeBatch(isDeleted ? .delete : .update, 1, 1, [(2, "one", .null)]))
      }
      let (report, _) = try SalvageLab.salvage(bytes)
      #expect(report.lost.map(\.numbers) == [2...2])
      let line = try #require(report.lines().first)
      let told = isDeleted ? "; no object can be stale (" : "; 1 object of Note may be stale ("
      #expect(line.contains(told), "\(line)")
    }
  }

  /// More names than one record may bring: the gap record was one that no reader takes.
  @Test func manyLostNames() throws {
    let limit = FormatLimits.maximumChanges
    let sound = try CraftedStore.bytes { crafted in
      try crafted.transaction(1, text: .null, definesSchema: true)
      for row in [2, 3] as [Int64] {
        try crafted.transaction(row, text: .null, names: (1...limit).map { "\(row)-\($0)" })
      }
      try crafted.transaction(4, text: .null, author: NameNumber(limit))
      try crafted.transaction(5, text: .null)
    }
    // Behind the number and the timestamp.
    let place = try record(3, in: sound) + FormatLimits.frameHeaderLength + 2
    for (author, fits) in [(400_000, true), (2 * limit, true), (2 * limit + 1, false)] {
      var bytes = sound
      for byte in 0..<3 {
        bytes[place + byte] = UInt8(author >> (7 * byte) & 127) | (byte < 2 ? 128 : 0)
      }
      bytes = bytes.sealed()
      for index in [1, 2] { bytes[try record(index, in: bytes) + 30] ^= 1 }
      let (report, store) = try SalvageLab.salvage(bytes)
      #expect(report.lost.map(\.numbers) == [fits ? 2...3 : 2...4], "\(report.lines())")
      #expect(report.head == 5)
      let gaps = try store.history().collect().compactMap(\.lost)
      #expect(gaps.map(\.numbers) == (fits ? [2...2, 3...3] : [2...4]))
      if fits {
        #expect(try store.transaction(4).author == "(lost name \(author))")
      } else {
        #expect(report.lost[0].reason.contains("it refers to name or opening \(author), more than"))
      }
    }
  }
}
