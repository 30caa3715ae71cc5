import Annals
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsSalvage
import AnnalsState
import AnnalsStorage
import Testing

/// Large values of salvaged stores, and of files that other writers may make.
@Suite struct SalvagedValueTests {
  /// Compacts, flattens and prunes the store, and expects these texts each time, and no errors.
  private func rewrite(_ location: StoreLocation, _ expected: [Int64: String]) throws {
    func check(_ path: String, _ what: Comment) throws {
      let location = location.beside(path)
      let store = try location.store(.readOnly)
      #expect(try store.texts() == expected, what)
      #expect(try store.verifyHistory().filter { $0.severity == .error } == [], what)
      var verification = try PhysicalVerification(location.opened())
      var found: [String] = []
      _ = try verification.run { if $0.severity != .note { found.append("\($0)") } }
      #expect(found == [], what)
    }
    let path = location.path
    try check(path, "as it is")
    var store = try location.store()
    let head = store.token.number
    try store.replay(to: "/whole", at: head)
    try check("/whole", "replayed")
    try store.replay(to: "/flat", at: head, flatten: true)
    try check("/flat", "flattened")
    try store.compact()
    try check(path, "compacted")
    try store.compact(smallest: true)
    try check(path, "smallest")
    try store.close()
    store = try location.store()
    try store.prune(store.prunePlan(before: head))
    try check(path, "pruned")
    try store.close()
    for copy in ["/whole", "/flat"] { try location.fileSystem.remove(copy) }
  }

  /// What mentions them is lost, and only a checkpoint behind it tells of them.
  @Test(arguments: [false, true])
  func onlyTheRestoredStateNamesThem(valuesAreLost: Bool) throws {
    let location = try sampleFile()
    let store = try Store(
      location, schema: CraftedStore.schema, environment: .fixed(seed: 3))
    for row in 1...3 {
      try store.write {
        try $0.insert(
          "Note",
          ["id": .string("\(row)"), "text": .string(CraftedStore.text(UInt64(row)))])
      }
    }
    try store.checkpoint()
    try store.write { try $0.insert("Note", ["id": "4", "text": "short"]) }
    try store.close()
    var bytes = try location.contents()
    let damaged = try frameList(bytes).filter {
      $0.kind == .transaction || valuesAreLost && $0.kind == .largeValue
    }
    for frame in damaged.dropFirst().prefix(valuesAreLost ? 6 : 3) {
      bytes[Int(frame.offset) + 30] ^= 1
    }
    let damagedFile = try sampleFile(bytes)
    let report = try Store.salvage(
      damagedFile, to: SalvageLab.out, environment: .fixed(seed: 9))
    #expect(report.lost.map(\.numbers) == [2...4] && report.lost[0].isExact, "\(report.lines())")
    #expect(report.lostValues.count == (valuesAreLost ? 3 : 0))
    var expected: [Int64: String] = [4: "short"]
    for row in 1...3 {
      expected[Int64(row)] = valuesAreLost ? "lost" : CraftedStore.text(UInt64(row))
    }
    try rewrite(damagedFile.beside(SalvageLab.out), expected)
  }

  /// A lost value of the base with a greater number than one that comes behind it was written at
  /// the end of the file, where nothing speaks of it: a rewrite dropped it.
  @Test func aLostValueOfTheBaseBeforeAWholeOne() throws {
    let location = try sampleFile(
      CraftedStore.bytes(base: 1) { crafted in
        try crafted.note(1, text: 7)
        try crafted.writeBase(1)
        try crafted.largeValue(5)
        try crafted.transaction(2, text: .large(CraftedStore.value(5)))
      })
    let report = try Store.salvage(
      location, to: SalvageLab.out, environment: .fixed(seed: 9))
    #expect(report.lost.isEmpty && report.lostValues.map(\.number) == [7], "\(report.lines())")
    try rewrite(location.beside(SalvageLab.out), [1: "lost", 2: CraftedStore.text(5)])
  }

  /// The format lets a large value stand before a checkpoint, ahead of the transaction that
  /// mentions it: rewrites dropped it, and openings that went over the checkpoint did not find it.
  @Test(arguments: [false, true])
  func aValueThatComesWithACheckpoint(isCheckpointDamaged: Bool) throws {
    var bytes = try CraftedStore.bytes { crafted in
      try crafted.transaction(1, text: .null, definesSchema: true)
      try crafted.largeValue(1)
      try crafted.writeCheckpoint()
      try crafted.transaction(1, text: .large(CraftedStore.value(1)), kind: .update)
    }
    if isCheckpointDamaged {
      let place = try #require(try frameList(bytes).first { $0.kind == .checkpoint })
      bytes[Int(place.offset) + 30] ^= 1
      #expect(try openForReading(bytes).texts() == [1: CraftedStore.text(1)])
    } else {
      try rewrite(sampleFile(bytes), [1: CraftedStore.text(1)])
    }
  }

  /// Nothing that is left defines an entity, and what is left out speaks of a lost value: the
  /// salvage ended the process.
  @Test func nothingButALostValue() throws {
    let location = try sampleFile(
      CraftedStore.bytes { try $0.transaction(1, text: .large(CraftedStore.value(3))) })
    let report = try Store.salvage(
      location, to: SalvageLab.out, environment: .fixed(seed: 9))
    #expect(report.lost.map(\.numbers) == [1...1])
    #expect(report.lostValues.map(\.number) == [3])
    _ = try location.beside(SalvageLab.out).store(.readOnly)
  }

  /// What could be read of a damaged base speaks of a value that is not there, and one with a
  /// greater number comes behind it: the new store had a reference to nothing.
  @Test func aLostValueOfWhatIsLeftOfABase() throws {
    var bytes = try CraftedStore.bytes(base: 1) { crafted in
      try crafted.note(1, id: "a", text: CraftedStore.value(1))
      try crafted.writeBase(1)
      try crafted.largeValue(2)
      try crafted.transaction(2, text: .large(CraftedStore.value(2)))
    }
    // The chunk behind that of the rows holds the ids.
    let chunks = try frameList(bytes).filter { $0.kind == .chunk }
    bytes[Int(chunks[1].offset) + 26] ^= 1
    let (report, store) = try SalvageLab.salvage(bytes)
    #expect(report.lost.map(\.numbers) == [1...1], "\(report.lines())")
    #expect(report.lostValues.map(\.number) == [1])
    #expect(report.lines().contains("lost: the 5000 bytes of large value 1, text of Note#1"))
    #expect(try store.texts() == [1: "lost", 2: CraftedStore.text(2)])
  }

  /// Of many objects with one lost value the first three are named.
  @Test(arguments: 1...5) func objectsWithALostValue(_ count: Int) throws {
    let bytes = try CraftedStore.bytes(base: 1) { crafted in
      for row in 1...Int64(count) {
        try crafted.note(row, id: "\(row)", text: CraftedStore.value(1))
      }
      try crafted.writeBase(1)
      try crafted.largeValue(2)
      try crafted.transaction(Int64(count) + 1, text: .large(CraftedStore.value(2)))
    }
    let lines = try SalvageLab.salvage(bytes).0.lines()
    let named = (1...min(count, 3)).map { "text of Note#\($0)" }.joined(separator: ", ")
    let more = ["", " and 1 other", " and 2 others"][max(0, count - 3)]
    #expect(
      lines.contains("lost: the 5000 bytes of large value 1, \(named)\(more)"), "\(lines)")
  }

  /// Of such a value a store cannot say that it is lost: what mentions it is no transaction of a
  /// store, nor a base.
  @Test(
    arguments: [(0, 5_000), (1 << 63, 5_000), (FormatLimits.maximumNumber, 5_000), (7, 0)]
      + [(7, 1 << 63)] as [(UInt64, UInt64)])
  func aValueThatNoStoreCanHave(number: UInt64, length: UInt64) throws {
    let value = LargeValue(tag: .string, number: number, length: length, checksum: 5)
    let bytes = try CraftedStore.bytes { crafted in
      try crafted.transaction(1, text: .null, definesSchema: true)
      try crafted.transaction(2, text: .large(value))
      try crafted.transaction(3, text: "short")
    }
    let (report, store) = try SalvageLab.salvage(bytes)
    #expect(report.lost.map(\.numbers) == [2...2], "\(report.lines())")
    #expect(report.lostValues.isEmpty)
    #expect(try store.texts() == [1: "none", 3: "short"])

    let based = try CraftedStore.bytes(base: 1) { crafted in
      try crafted.note(1, id: "a", text: value)
      try crafted.writeBase(1)
      try crafted.transaction(2, text: "short")
    }
    let (other, left) = try SalvageLab.salvage(based)
    #expect(other.lost.map(\.numbers) == [1...1], "\(other.lines())")
    #expect(try left.texts() == [1: "none", 2: "short"])
  }
}
