import Annals
import AnnalsFormat
import AnnalsModel
import AnnalsSalvage
import AnnalsStorage
import AnnalsTestSupport
import Testing

/// What salvage says is lost is what was really lost, and all else is as it was.
@Suite struct SalvageTests {
  @Test(arguments: SampleFile.allCases)
  func aSoundFileLosesNothing(sort: SampleFile) throws {
    let lab = try SalvageLab(sort.make())
    let report = try #require(try lab.check(lab.bytes, "\(sort)"))
    #expect(report.isComplete && report.lines().isEmpty, "\(sort): \(report.lines())")
    #expect(report.head == lab.head)
  }

  @Test(arguments: SampleFile.allCases)
  func flippedBits(sort: SampleFile) throws {
    print("ANNALS_DAMAGE_SEED=\(damageSeed)")
    let lab = try SalvageLab(sort.make())
    var random = SeededRandom(seed: damageSeed &+ 17)
    let dense = lab.bytes.indices.filter { lab.bytes[$0] != 0 }
    for _ in 0..<(isLong ? 2000 : 12) {
      var damaged = lab.bytes
      let byte = dense[Int.random(in: dense.indices, using: &random)]
      let bit = Int.random(in: 0..<8, using: &random)
      damaged[byte] ^= 1 << UInt8(bit)
      try lab.check(damaged, "\(sort): bit \(bit) of byte \(byte)")
    }
  }

  /// One bit of every byte of the header, of each slot, and both slots at once.
  @Test func damagedHeaders() throws {
    let lab = try SalvageLab(SampleFile.pruned.make())
    let step = isLong ? 1 : 37
    for byte in stride(from: 0, to: 168, by: step) {
      var damaged = lab.bytes
      damaged[byte] ^= 1 << UInt8(byte % 8)
      let report = try #require(try lab.check(damaged, "header byte \(byte)"))
      #expect(report.isComplete)
      // Without the slots the flipped bit is found.
      for index in 4096..<12_288 { damaged[index] = 0 }
      let bare = try #require(try lab.check(damaged, "header byte \(byte), no slots"))
      #expect(bare.isComplete, "header byte \(byte): \(bare.lines())")
    }
    var damaged = lab.bytes
    for index in 0..<4096 { damaged[index] = 0 }
    let report = try #require(try lab.check(damaged, "no header"))
    #expect(report.isComplete)
    // Neither header nor slots: the frames alone.
    for index in 4096..<12_288 { damaged[index] = 0 }
    let bare = try #require(try lab.check(damaged, "no header, no slots"))
    #expect(bare.hasNewIdentity && bare.lost.isEmpty)
  }

  @Test(arguments: SampleFile.allCases)
  func cutFiles(sort: SampleFile) throws {
    let lab = try SalvageLab(sort.make())
    let end = (lab.bytes.lastIndex { $0 != 0 } ?? 0) + 1
    var random = SeededRandom(seed: damageSeed &+ 3)
    for _ in 0..<(isLong ? 300 : 6) {
      let length = Int.random(in: 12_288..<end, using: &random)
      try lab.check(ContiguousArray(lab.bytes.prefix(length)), "\(sort) cut to \(length)")
    }
  }

  @Test(arguments: SampleFile.allCases)
  func overwrittenRanges(sort: SampleFile) throws {
    print("ANNALS_DAMAGE_SEED=\(damageSeed)")
    let lab = try SalvageLab(sort.make())
    let end = (lab.bytes.lastIndex { $0 != 0 } ?? 0) + 1
    var random = SeededRandom(seed: damageSeed &+ 5)
    for round in 0..<(isLong ? 300 : 8) {
      let length = [8, 64, 512, 4096][round % 4]
      let start = Int.random(in: 0..<max(1, end - length), using: &random)
      var damaged = lab.bytes
      for index in start..<min(end, start + length) {
        damaged[index] = round % 2 == 0 ? 0 : UInt8.random(in: 0...255, using: &random)
      }
      try lab.check(damaged, "\(sort): \(length) bytes at \(start), round \(round)")
    }
  }

  /// Once nothing was said to be lost: no transaction behind the base tells that there was one, and
  /// no slot either, but the header does.
  @Test func aBaseThatIsLostWithTheSlotsIsMissed() throws {
    let location = try sampleFile()
    let store = try Store(location, schema: SampleFile.schema)
    for id in ["a", "b", "c"] { try store.write { try $0.insert("Note", ["id": .string(id)]) } }
    try store.prune(store.prunePlan(before: 4))
    try store.replay(to: "/flat.annals", at: 4, flatten: true)
    try store.close()
    var bytes = try location.contents(of: "/flat.annals")
    for index in 4096..<12_288 { bytes[index] = 0 }
    // The first chunk of the state.
    bytes[12_320] ^= 1
    let report = try Store.salvage(sampleFile(bytes), to: SalvageLab.out)
    #expect(report.lost.map(\.numbers) == [1...4], "\(report.lines())")
    #expect(!report.isComplete)
  }

  /// A salvaged store is a store: written to, compacted, pruned, exported, salvaged again.
  @Test func aSalvagedStoreIsAStore() throws {
    let lab = try SalvageLab(SampleFile.smallest.make())
    var damaged = lab.bytes
    // The block with the transactions behind the large values.
    damaged[damaged.count - 40] ^= 1
    let whole = try SampleFile.open.make()
    for (name, bytes) in [("block", damaged), ("row", try middleRowDamaged(whole))] {
      let location = try sampleFile(bytes)
      let report = try Store.salvage(location, to: SalvageLab.out)
      let lost = try #require(report.lost.first)
      let salvaged = location.beside(SalvageLab.out)
      let store = try Store(salvaged, schema: SampleFile.schema)
      // Where the schema was lost, opening has brought it again.
      let head = store.token.number
      #expect(head == report.head || lost.first == 1)
      try store.write(author: "after") { tx in
        try tx.insert("Note", ["id": "new", "text": "written after the salvage"])
      }
      #expect(store.token.number == head + 1, "\(name)")
      try expectGap(store, lost)
      #expect(try store.verifyHistory().filter { $0.severity == .error } == [])
      try store.compact()
      try expectGap(store, lost)
      try store.close()
      let again = try salvaged.store()
      try expectGap(again, lost)
      #expect(try verify(salvaged.contents()).filter { !$0.hasPrefix("note") } == [])
      let second = try Store.salvage(salvaged, to: "/again.annals")
      #expect(second.isComplete)
      if lost.last < again.token.number {
        try again.prune(again.prunePlan(before: lost.last + 1))
        #expect(again.base.number == lost.last)
        _ = try again.snapshot(at: lost.last)
        #expect(try again.verifyHistory().filter { $0.severity == .error } == [])
        try again.close()
      }
    }
  }

  /// A property that a transaction behind the gap defines, and later ones give old objects values
  /// of, was once set in a state that did not know it: the salvage ended with an error.
  @Test func whatIsDefinedBehindAGapHadNoValueInIt() throws {
    let location = try sampleFile()
    let store = try Store(location, schema: SampleFile.schema)
    var note: ObjectID?
    try store.write { tx in note = try tx.insert("Note", ["id": "a", "text": "Fog"]) }
    let id = try #require(note)
    for count in 1...3 {
      try store.write { tx in try tx.update(id, ["count": .int(Int64(count))]) }
    }
    try store.require(Schema { Entity("Note") { Attribute("stars", .int32) } })
    try store.write { tx in try tx.update(id, ["stars": 5]) }
    let bytes = try location.contents()
    let lab = try SalvageLab(bytes)
    let report = try #require(try lab.check(middleRowDamaged(bytes, 4), "defined behind a gap"))
    #expect(report.lost.map(\.numbers) == [4...4])
    #expect(report.lost[0].stale.map(\.objects) == [1])
    // What changed next says what was before: the state behind the gap is right.
    let salvaged = try openForReading(Store.salvaged(middleRowDamaged(bytes, 4)))
    #expect(try Reading.state(salvaged, 7) == lab.original.states[7])
    #expect(try Reading.state(salvaged, 5) == lab.original.states[5])
  }

  /// What a wide entity had before the gap, no later change of the schema says again: its values
  /// are kept under made-up names.
  @Test func aWideEntityWhoseDefinitionIsLostKeepsItsValues() throws {
    let location = try sampleFile()
    let store = try Store(
      location,
      schema: Schema {
        Entity("Wide") {
          Attribute("id", .string, isUnique: true)
          for number in 0..<40 { Attribute("p\(number)", .int64) }
        }
      })
    var made: [ObjectID] = []
    try store.write { tx in
      for id in ["a", "b"] { made.append(try tx.insert("Wide", ["id": .string(id), "p7": 1])) }
    }
    try store.require(Schema { Entity("Wide") { Attribute("stars", .int32) } })
    try store.write { tx in try tx.update(made[0], ["p7": 2, "stars": 5]) }
    try store.require(Schema { Entity("Wide") { Attribute("moons", .int32) } })
    try store.write { tx in try tx.update(made[1], ["moons": 3]) }
    try store.write { tx in try tx.delete(made[0]) }
    let bytes = try location.contents()
    let lab = try SalvageLab(bytes)
    var damaged = bytes
    for frame in try frameList(bytes).filter({ $0.kind == .transaction }).prefix(2) {
      damaged[Int(frame.offset) + 30] ^= 1
    }
    let report = try #require(try lab.check(damaged, "a wide entity"))
    #expect(report.lost.map(\.numbers) == [1...2], "\(report.lines())")
    let salvaged = try openForReading(try Store.salvaged(damaged))
    let wide = try #require(salvaged.schema.entity(named: "Wide"))
    #expect(wide.attribute(named: "stars") != nil && wide.attribute(named: "moons") != nil)
    let before = try #require(try salvaged.snapshot(at: 3).objects(of: "Wide").first)
    #expect(before["lost property 1"] == "a" && before["lost property 9"] == 1)
    let after = try #require(try salvaged.snapshot(at: 4).objects(of: "Wide").first)
    #expect(after["lost property 9"] == 2 && after["stars"] == 5)
  }

  /// A change of the schema says again what an entity had before: what a later delete tells of that
  /// was in the gap as well. The delete was taken not to fit, and lost.
  @Test func whatIsDefinedAgainBehindAGapHadItsValueInIt() throws {
    let location = try sampleFile()
    let store = try Store(location, schema: SampleFile.schema)
    var made: [ObjectID] = []
    try store.write { tx in
      for id in ["a", "b"] { made.append(try tx.insert("Note", ["id": .string(id), "count": 1])) }
    }
    try store.require(Schema { Entity("Note") { Attribute("stars", .int32) } })
    try store.write { tx in try tx.update(made[0], ["text": "Fog"]) }
    try store.require(Schema { Entity("Note") { Attribute("moons", .int32) } })
    for moons in [1, 2] as [Int64] {
      try store.write { tx in try tx.update(made[1], ["moons": .int(moons), "stars": .int(moons)]) }
    }
    try store.write { tx in try tx.delete(made[0]) }
    let bytes = try location.contents()
    let lab = try SalvageLab(bytes)
    var damaged = bytes
    for frame in try frameList(bytes).filter({ $0.kind == .transaction }).prefix(2) {
      damaged[Int(frame.offset) + 30] ^= 1
    }
    let report = try #require(try lab.check(damaged, "defined again"))
    #expect(report.lost.map(\.numbers) == [1...2], "\(report.lines())")
    let salvaged = try openForReading(try Store.salvaged(damaged))
    let note = try #require(try salvaged.snapshot(at: 3).objects(of: "Note").first)
    #expect(note["id"] == "a" && note["count"] == 1)
  }

  /// The bytes with one transaction in the middle damaged.
  private func middleRowDamaged(
    _ bytes: ContiguousArray<UInt8>, _ number: Int64 = 5
  ) throws -> ContiguousArray<UInt8> {
    let lab = try SalvageLab(bytes)
    for index in bytes.indices.dropFirst(Int(FormatLimits.logStart)) where bytes[index] != 0 {
      var damaged = bytes
      damaged[index] ^= 1
      if lab.damagedTransactions(in: damaged) == [number] { return damaged }
    }
    throw AnnalsError(.invalidArgument, "no frame with transaction \(number) alone")
  }

  private func expectGap(_ store: Store, _ lost: LostTransactions) throws {
    let gaps = try store.history().collect().compactMap(\.lost)
    #expect(gaps.map(\.numbers) == [lost.numbers])
    // No condition hides it, in either direction.
    let others = try store.history(where: .author == "nobody").reversed().collect()
    #expect(others.map(\.lost?.numbers) == [lost.numbers])
    let error = #expect(throws: AnnalsError.self) { try store.transaction(lost.last) }
    #expect(error?.code == .lost && error?.lostTransactions?.numbers == lost.numbers)
    #expect(error?.message.contains("\(lost)") == true)
    if lost.first < lost.last {
      let code = #expect(throws: AnnalsError.self) { try store.snapshot(at: lost.first) }?.code
      #expect(code == .lost)
      let after = #expect(throws: AnnalsError.self) { try store.history(after: lost.first) }?.code
      #expect(after == .lost)
    }
    _ = try store.history(after: lost.last).collect()
    #expect(try store.history().count() == Int(store.token.number) - lost.numbers.count)
  }
}
