import Annals
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsSalvage
import AnnalsTestSupport
import Testing

/// Records with right checksums that say what is not so: rows of the damage table.
@Suite struct CraftedRecordTests {
  /// An update of note 1 that puts itself into its list at this position.
  private func edits(at position: UInt32, removes: Bool) -> ChangeBatch {
    var batch = ChangeBatch()
    withUnsafeBytes(of: position.littleEndian) { batch.arena.append(contentsOf: $0) }
    ObjectReference(entity: 1, row: 1).append(to: &batch.arena)
    let none = ValueCell(tag: .objects, bits: 0, length: 0)
    let one = ValueCell(tag: .objects, bits: 0, length: UInt32(PropertyChange.editByteCount))
    batch.properties.append(
      PropertyChange(
        property: 3, before: removes ? one : none, after: removes ? none : one, isEdits: true))
    batch.changes.append(
      ChangeEntry(kind: .update, entity: 1, row: 1, firstProperty: 0, propertyCount: 1))
    return batch
  }

  /// Beyond the list's end, or of a reference that is not there.
  @Test(arguments: [(5, false), (1, false), (0, true)] as [(UInt32, Bool)])
  func editsThatDoNotFitTheList(position: UInt32, removes: Bool) throws {
    let bytes = try CraftedStore.bytesBehindOne { crafted in
      try crafted.append(edits(at: position, removes: removes))
      try crafted.transaction(3, text: "three")
    }
    let place = try frameList(bytes)[1].offset
    let error = #expect(throws: AnnalsError.self) { try openForReading(bytes) }
    #expect(error?.code == .damaged && error?.offset == place, "\(error as Any)")
    #expect(error?.message.contains("transaction 2 does not fit the state before it") == true)
    #expect(try verify(bytes).contains { $0.contains("transaction 2") && $0.contains("\(place)") })
    let location = try sampleFile(bytes)
    var options = StoreOptions.readOnly
    options.readsUpToDamage = true
    #expect(try location.store(options).token.number == 1)
    let report = try Store.salvage(location, to: SalvageLab.out, environment: .fixed(seed: 9))
    #expect(report.lost.map(\.numbers) == [2...2] && report.head == 3, "\(report.lines())")
    let salvaged = try openForReading(location.contents(of: SalvageLab.out))
    #expect(try salvaged.snapshot().objects(of: "Note").count == 2)
  }

  /// Edits that fit are applied: what the tests above craft is refused for what it says.
  @Test func editsThatFit() throws {
    let store = try openForReading(
      CraftedStore.bytesBehindOne { try $0.append(edits(at: 0, removes: false)) })
    let note = try #require(try store.snapshot().objects(of: "Note").first)
    #expect(note["others"] == .objects([ObjectReference(entity: 1, row: 1)]))
  }

  /// Behind a gap an entity is made up, of which a later checkpoint knows nothing: it was as if its
  /// rows had never been given.
  @Test func rowsOfAnEntityThatACheckpointDoesNotHave() throws {
    var bytes = try CraftedStore.bytesBehindOne { crafted in
      try crafted.transaction(2, text: "lost")
      try crafted.append(ChangeBatch(.insert, 2, 3))
      try crafted.transaction(4, text: "lost as well")
      try crafted.writeCheckpoint()
      try crafted.transaction(5, text: "five")
    }
    for frame in [1, 3] { bytes[Int(try frameList(bytes)[frame].offset) + 30] ^= 1 }
    let (report, store) = try SalvageLab.salvage(bytes)
    #expect(report.lost.map(\.numbers) == [2...2, 4...4], "\(report.lines())")
    #expect(report.lost[1].isExact && store.token.number == 5)
    #expect(try store.snapshot().objects(of: "Note").count == 4)
  }

  /// What an update gives a relationship that nothing left defines tells which entity it leads to:
  /// that has a name as well, or an export could not be read in.
  @Test func whereARelationshipMadeUpLeadsTo() throws {
    var bytes = try CraftedStore.bytesBehindOne { crafted in
      try crafted.transaction(2, text: "lost")
      let other = Value.object(ObjectReference(entity: 5, row: 1))
      try crafted.append(ChangeBatch(.update, 1, 1, [(4, .null, other)]))
    }
    bytes[Int(try frameList(bytes)[1].offset) + 30] ^= 1
    let (report, store) = try SalvageLab.salvage(bytes)
    #expect(report.lost.map(\.numbers) == [2...2], "\(report.lines())")
    #expect(store.schema.entity(numbered: 5)?.name == "lost entity 5")
    try store.expectSameImported("a relationship made up")
  }

  /// The byte of the summary, what it is, and what it says instead: a greatest row, a kind of
  /// change and a property that no change has.
  @Test(arguments: [(14, 1, 2), (15, 1, 5), (17, 2, 6)] as [(Int, UInt8, UInt8)])
  func aSummaryThatSaysMore(byte: Int, was: UInt8, says: UInt8) throws {
    func bytes(_ value: UInt8) throws -> ContiguousArray<UInt8> {
      try CraftedStore.bytesBehindOne { crafted in
        var batch = ChangeBatch()
        for number in [2, 3] as [Int64] {
          batch.append(.insert, 1, number, [(2, .null, "new")])
          batch.append(TransactionRecord(number: number, timestamp: Timestamp(microseconds: 9)))
        }
        var payload = batch.block()
        try #require(payload[byte] == was, "\(payload.prefix(20))")
        payload[byte] = value
        try payload.withUnsafeBytes {
          try crafted.log.append(kind: .block, payload: $0, batch: batch)
        }
      }
    }
    #expect(try verify(bytes(was)).filter { !$0.hasPrefix("note") } == [])
    let crafted = try bytes(says)
    let found = try verify(crafted)
    #expect(found.contains { $0.hasPrefix("error") && $0.contains("summary") }, "\(found)")
    // Other readers may refuse it: this one does where what it says is of the changes themselves.
    do {
      let store = try openForReading(crafted)
      #expect(try store.snapshot().objects(of: "Note").count == 3)
    } catch let error as AnnalsError {
      #expect(error.code == .damaged && error.message.contains("other than the summary"))
    }
  }
}
