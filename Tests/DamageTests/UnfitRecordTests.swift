import Annals
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsSalvage
import AnnalsState
import AnnalsTestSupport
import Testing

/// Transactions that can be read and taken in, and that `verify` calls errors: a salvage leaves
/// them out, says why, and what it writes has none (`SalvageLab.salvage` looks).
@Suite struct UnfitRecordTests {
  /// A change of a note: its values before and after, by property; 1 is the unique id, 2 the text.
  private typealias Step = (kind: ChangeKind, row: Int64, values: [PropertyValues])

  private func batch(_ steps: [Step]) -> ChangeBatch {
    var batch = ChangeBatch()
    for step in steps { batch.append(step.kind, 1, step.row, step.values) }
    return batch
  }

  private func insert(_ row: Int64, id: String, text: Value) -> Step {
    (.insert, row, [(1, .null, .string(id)), (2, .null, text)])
  }

  private func update(_ row: Int64, text: Value, from before: Value) -> Step {
    (.update, row, [(2, before, text)])
  }

  /// What is wrong with transaction 3 of four, and what a salvage says of it.
  private static let faults = [
    "changes Note#1 twice", "Note#3 and #2 would have the same id, which is unique",
    "says that text of Note#2 was otherwise before it than it was",
    "gives text of Note#2 a value of another kind", "changes entity 9, which the schema does not",
  ]

  @Test(arguments: faults.indices)
  func isAGapInTheSalvagedStore(fault: Int) throws {
    let wrong: [[Step]] = [
      [update(1, text: "two", from: "one"), update(1, text: "three", from: "two")],
      [insert(3, id: "b", text: "double")], [update(2, text: "new", from: "never")],
      [update(2, text: .int(7), from: "b")], [],
    ]
    var crafted = batch(wrong[fault])
    if fault == 4 { crafted.append(.insert, 9, 1) }
    let bytes = try CraftedStore.bytesBehindOne {
      try $0.append(batch([insert(2, id: "b", text: "b")]))
      try $0.append(crafted)
      try $0.append(batch([insert(4, id: "d", text: "d")]))
    }
    #expect(try verify(bytes).contains { $0.hasPrefix("error") }, "it is a fault")
    let (report, store) = try SalvageLab.salvage(bytes)
    #expect(report.lost.map(\.numbers) == [3...3], "\(report.lines())")
    let reason = report.lost.first?.reason ?? ""
    #expect(reason.contains("transaction 3 does not fit the state before it ("), "\(reason)")
    #expect(reason.contains(UnfitRecordTests.faults[fault]), "\(reason)")
    #expect(!report.isComplete && report.transactions == 3 && report.head == 4)
    #expect(try store.texts() == [1: "one", 2: "b", 4: "d"])
    #expect(try store.history().collect().map(\.number) == [1, 2, 3, 4])
  }

  /// Of a block only the transactions that do not fit are left out: it is written in pieces.
  @Test func aloneAmongThoseOfABlock() throws {
    let bytes = try CraftedStore.bytesBehindOne { crafted in
      let steps: [[Step]] = [
        [insert(2, id: "b", text: "b")], [insert(3, id: "c", text: "c")],
        [insert(5, id: "b", text: "double")], [insert(4, id: "d", text: "d")],
        [update(1, text: "two", from: "one"), update(1, text: "three", from: "two")],
        [update(2, text: "B", from: "b")], [insert(6, id: "f", text: "f")],
      ]
      var block = ChangeBatch()
      for (place, step) in steps.enumerated() {
        for step in step { block.append(step.kind, 1, step.row, step.values) }
        block.append(
          TransactionRecord(number: Int64(place) + 2, timestamp: Timestamp(microseconds: 9)))
      }
      try crafted.log.write(block)
    }
    #expect(try frameList(bytes).count { $0.kind == .block } == 1)
    let (report, store) = try SalvageLab.salvage(bytes)
    #expect(report.lost.map(\.numbers) == [4...4, 6...6], "\(report.lines())")
    #expect(report.transactions == 6 && report.head == 8)
    #expect(try store.texts() == [1: "one", 2: "B", 3: "c", 4: "d", 6: "f"])
    #expect(try store.history().collect().map(\.number) == [1, 2, 3, 4, 5, 6, 7, 8])
  }

  private func wrong(_ value: LargeValue) -> [LargeValue] {
    var length = value
    length.length = 4_999
    var checksum = value
    checksum.checksum ^= 1
    return [length, checksum]
  }

  /// The bytes are those that one reference means, so another that says otherwise is wrong; they
  /// were given up for it.
  @Test(arguments: [0, 1]) func oneReferenceToALargeValueSaysOtherwise(fault: Int) throws {
    let value = CraftedStore.value(1)
    for isFirst in [false, true] {
      let said = [wrong(value)[fault], value]
      let bytes = try CraftedStore.bytesBehindOne {
        try $0.largeValue(1)
        try $0.append(batch([insert(2, id: "b", text: .large(said[isFirst ? 0 : 1]))]))
        try $0.append(batch([insert(3, id: "c", text: .large(said[isFirst ? 1 : 0]))]))
      }
      let (report, store) = try SalvageLab.salvage(bytes)
      let number: Int64 = isFirst ? 2 : 3
      #expect(report.lost.map(\.numbers) == [number...number], "\(report.lines())")
      #expect(
        report.lost.first?.reason.contains(
          "transaction \(number) does not fit the state before it (it has a reference to large "
            + "value 1 of \(said[0].length) bytes with crc32") == true, "\(report.lines())")
      #expect(report.lostValues.isEmpty)
      #expect(try store.texts() == [1: "one", isFirst ? 3 : 2: CraftedStore.text(1)])
    }
  }

  /// Where the bytes are gone, the first that speaks of them is right about their length.
  @Test func referencesToALostValueDiffer() throws {
    let value = CraftedStore.value(1)
    let bytes = try CraftedStore.bytesBehindOne {
      try $0.append(batch([insert(2, id: "b", text: .large(value))]))
      try $0.append(batch([insert(3, id: "c", text: .large(wrong(value)[0]))]))
    }
    let (report, store) = try SalvageLab.salvage(bytes)
    #expect(report.lost.map(\.numbers) == [3...3], "\(report.lines())")
    #expect(report.lostValues == [value])
    #expect(try store.snapshot().objects(of: "Note").count == 2)
  }

  /// Behind a gap, too: what a transaction says was before it would be in the gap's record.
  @Test func oneReferenceBehindAGapSaysOtherwise() throws {
    let value = CraftedStore.value(1)
    let bytes = try CraftedStore.bytesBehindOne {
      try $0.largeValue(1)
      try $0.append(batch([insert(2, id: "b", text: .large(value))]))
      try $0.append(batch([update(9, text: "x", from: "never")]))
      try $0.append(batch([update(2, text: "short", from: .large(wrong(value)[0]))]))
      try $0.append(batch([insert(4, id: "d", text: "d")]))
    }
    let (report, store) = try SalvageLab.salvage(bytes)
    #expect(report.lost.map(\.numbers) == [3...4], "\(report.lines())")
    #expect(try store.texts() == [1: "one", 2: CraftedStore.text(1), 4: "d"])
  }

  /// A base that says otherwise of a large value than transactions do, whose bytes are right.
  @Test func theBaseSaysOtherwise() throws {
    let bytes = try CraftedStore.bytes(base: 5) { crafted in
      try crafted.note(1, text: wrong(CraftedStore.value(1))[0])
      try crafted.largeValue(1)
      try crafted.writeBase(5)
      try crafted.append(batch([insert(2, id: "b", text: .large(CraftedStore.value(1)))]))
    }
    let (report, store) = try SalvageLab.salvage(bytes)
    #expect(report.lost.map(\.numbers) == [1...5], "\(report.lines())")
    #expect(report.lostValues.isEmpty)
    #expect(try store.texts() == [1: "none", 2: CraftedStore.text(1)])
  }

  /// Two objects of a base have one unique key.
  @Test func theBaseHasAKeyTwice() throws {
    let bytes = try CraftedStore.bytes(base: 5) { crafted in
      for row in [1, 2] as [Int64] {
        try crafted.state.insertRow(1, row: row)
        try crafted.state.set(1, row, 1, to: "a")
      }
      try crafted.writeBase(5)
      try crafted.append(batch([insert(3, id: "c", text: "c")]))
    }
    let (report, store) = try SalvageLab.salvage(bytes)
    #expect(report.lost.map(\.numbers) == [1...5], "\(report.lines())")
    #expect(try store.snapshot().objects(of: "Note").count == 2)
  }

  /// A piece of a large value that tells of another length does not belong to it.
  @Test func piecesThatSayDifferentLengths() throws {
    let bytes = try CraftedStore.bytesBehindOne { crafted in
      let text = Array(CraftedStore.text(1).utf8)
      for (start, length) in [(0, 5_000), (2_500, 5_001)] as [(Int, UInt64)] {
        let payload = largeValuePiece(
          1, text[start..<start + 2_500], total: length, start: UInt64(start))
        try payload.withUnsafeBytes {
          try crafted.log.append(
            try LargeValueCodec.decode($0), isLast: start > 0)
        }
      }
      try crafted.append(batch([insert(2, id: "b", text: .large(CraftedStore.value(1)))]))
    }
    let (report, _) = try SalvageLab.salvage(bytes)
    #expect(report.lost.isEmpty && report.lostValues == [CraftedStore.value(1)])
  }

  /// Nothing was crafted here, but for the gap. Note 1 gave up its key in it; what comes behind
  /// touches note 1, does not tell of its key, and gives it to another.
  @Test func aKeyThatWasGivenUpInTheGap() throws {
    let bytes = try CraftedStore.bytesBehindOne {
      try $0.append(batch([insert(2, id: "a", text: "a"), insert(3, id: "b", text: "b")]))
      try $0.append(batch([update(9, text: "x", from: "never")]))
      try $0.append(batch([update(2, text: "A", from: "a")]))
      try $0.append(batch([(.update, 3, [(1, "b", "a")])]))
    }
    let (report, store) = try SalvageLab.salvage(bytes)
    #expect(report.lost.map(\.numbers) == [3...3], "\(report.lines())")
    #expect(report.lost.first?.stale.map(\.objects) == [3], "\(report.lines())")
    let notes = try store.snapshot().objects(of: "Note")
    #expect(notes.map { $0["id"] } == [.null, .null, "a"])
    #expect(notes.map { $0["text"] } == ["one", "A", "b"])
    let note = "nothing tells to what, and 1 are nil"
    #expect(report.notes.contains { $0.contains(note) }, "\(report.notes)")
  }

  /// What was removed stays so: its number is never given to anything else.
  @Test func whatWasRemovedIsNotBroughtBack() throws {
    for isWhole in [false, true] {
      let bytes = try CraftedStore.bytesBehindOne { crafted in
        var entity = crafted.state.schema.entities[0]
        for isRemoved in [true, false] {
          if isWhole {
            entity.isRemoved = isRemoved
          } else {
            entity.attributes[1].isRemoved = isRemoved
          }
          var change = ChangeBatch()
          var record = TransactionRecord(
            number: crafted.log.head + 1, timestamp: Timestamp(microseconds: 9))
          record.schemaChange = [entity].map(EntityChange.init)
          change.transactions = [record]
          try crafted.log.write(change)
        }
      }
      let what = isWhole ? "entity 1" : "property 2 of entity 1"
      let told = "transaction 3 brings back \(what), which was removed"
      #expect(try verify(bytes).contains { $0.hasPrefix("error") && $0.contains(told) })
      let (report, _) = try SalvageLab.salvage(bytes)
      #expect(report.lost.map(\.numbers) == [3...3], "\(report.lines())")
    }
  }

  /// The checkpoint of a lost transaction knows less of the schema than there was before.
  @Test func aGapTakesNothingFromTheSchema() throws {
    let bytes = try CraftedStore.bytesBehindOne {
      try $0.append(batch([update(9, text: "x", from: "never")]))
      var entity = $0.state.schema.entities[0]
      entity.relationships = []
      try $0.log.writeCheckpoint(schema: Schema(entities: [entity])) { _ in [] }
      try $0.append(batch([insert(4, id: "d", text: "d")]))
    }
    let (report, store) = try SalvageLab.salvage(bytes)
    #expect(report.lost.map(\.numbers) == [2...2] && report.lost.first?.isExact == true)
    #expect(try store.texts() == [4: "d"])
  }
}
