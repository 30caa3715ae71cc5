import Annals
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage
import Testing

/// Large values of salvaged stores, and of files that other writers may make.
@Suite struct SalvagedValueTests {
  private func location(_ files: MemoryFileSystem, _ path: String) -> StoreLocation {
    StoreLocation(fileSystem: files, path: path)
  }

  /// The notes' texts by row; `lost` where the value says that it was lost.
  private func texts(_ store: Store) throws -> [Int64: String] {
    var result: [Int64: String] = [:]
    for note in try store.snapshot().objects(of: "Note") {
      switch note["text"] {
      case .string(let text): result[note.id.row] = text
      case .large(let value):
        do {
          result[note.id.row] = String(decoding: try store.bytes(of: value), as: UTF8.self)
        } catch {
          #expect(error.message.contains("lost"), "\(error)")
          result[note.id.row] = "lost"
        }
      default: result[note.id.row] = "none"
      }
    }
    return result
  }

  /// Compacts, flattens and prunes the store, and expects these texts each time, and no errors.
  private func rewrite(
    _ files: MemoryFileSystem, _ path: String, _ expected: [Int64: String]
  ) throws {
    func check(_ path: String, _ what: Comment) throws {
      let store = try Store(location(files, path), creates: false, options: .readOnly)
      #expect(try texts(store) == expected, what)
      #expect(try store.verifyHistory().filter { $0.severity == .error } == [], what)
      var verification = try PhysicalVerification(files.open(path, for: .reading))
      var found: [String] = []
      _ = try verification.run { if $0.severity != .note { found.append("\($0)") } }
      #expect(found == [], what)
    }
    try check(path, "as it is")
    var store = try Store(location(files, path), creates: false)
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
    store = try Store(location(files, path), creates: false)
    try store.prune(store.prunePlan(before: head))
    try check(path, "pruned")
    try store.close()
    for copy in ["/whole", "/flat"] { try files.remove(copy) }
  }

  /// What mentions them is lost, and only a checkpoint behind it tells of them.
  @Test(arguments: [false, true])
  func onlyTheRestoredStateNamesThem(valuesAreLost: Bool) throws {
    let files = MemoryFileSystem()
    let store = try Store(
      location(files, SampleFile.path), schema: CraftedStore.schema,
      environment: .fixed(seed: 3))
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
    var bytes = try files.contents(of: SampleFile.path)
    let damaged = try frameList(bytes).filter {
      $0.kind == .transaction || valuesAreLost && $0.kind == .largeValue
    }
    for frame in damaged.dropFirst().prefix(valuesAreLost ? 6 : 3) {
      bytes[Int(frame.offset) + 30] ^= 1
    }
    try files.put(bytes, at: SampleFile.path)
    let report = try Store.salvage(
      location(files, SampleFile.path), to: SalvageLab.out, environment: .fixed(seed: 9))
    #expect(report.lost.map(\.numbers) == [2...4] && report.lost[0].isExact, "\(report.lines())")
    #expect(report.lostValues.count == (valuesAreLost ? 3 : 0))
    var expected: [Int64: String] = [4: "short"]
    for row in 1...3 {
      expected[Int64(row)] = valuesAreLost ? "lost" : CraftedStore.text(UInt64(row))
    }
    try rewrite(files, SalvageLab.out, expected)
  }

  /// A lost value of the base with a greater number than one that comes behind it was written at
  /// the end of the file, where nothing speaks of it: a rewrite dropped it.
  @Test func aLostValueOfTheBaseBeforeAWholeOne() throws {
    let files = MemoryFileSystem()
    var crafted = try CraftedStore(files, base: 1)
    try crafted.note(1, text: 7)
    try crafted.writeBase(1)
    try crafted.largeValue(5)
    try crafted.transaction(2, text: .large(CraftedStore.value(5)))
    try crafted.log.putInPlace()
    let report = try Store.salvage(
      location(files, SampleFile.path), to: SalvageLab.out, environment: .fixed(seed: 9))
    #expect(report.lost.isEmpty && report.lostValues.map(\.number) == [7], "\(report.lines())")
    try rewrite(files, SalvageLab.out, [1: "lost", 2: CraftedStore.text(5)])
  }

  /// The format lets a large value stand before a checkpoint, ahead of the transaction that
  /// mentions it: rewrites dropped it, and openings that went over the checkpoint did not find it.
  @Test(arguments: [false, true])
  func aValueThatComesWithACheckpoint(isCheckpointDamaged: Bool) throws {
    let files = MemoryFileSystem()
    var crafted = try CraftedStore(files, base: 0)
    try crafted.transaction(1, text: .null, definesSchema: true)
    try crafted.largeValue(1)
    try crafted.writeCheckpoint()
    try crafted.transaction(1, text: .large(CraftedStore.value(1)), kind: .update)
    try crafted.log.putInPlace()
    if isCheckpointDamaged {
      var bytes = try files.contents(of: SampleFile.path)
      let place = try #require(try frameList(bytes).first { $0.kind == .checkpoint })
      bytes[Int(place.offset) + 30] ^= 1
      try files.put(bytes, at: SampleFile.path)
      let store = try openForReading(bytes)
      #expect(try texts(store) == [1: CraftedStore.text(1)])
    } else {
      try rewrite(files, SampleFile.path, [1: CraftedStore.text(1)])
    }
  }

  /// Nothing that is left defines an entity, and what is left out speaks of a lost value: the
  /// salvage ended the process.
  @Test func nothingButALostValue() throws {
    let files = MemoryFileSystem()
    var crafted = try CraftedStore(files, base: 0)
    try crafted.transaction(1, text: .large(CraftedStore.value(3)))
    try crafted.log.putInPlace()
    let report = try Store.salvage(
      location(files, SampleFile.path), to: SalvageLab.out, environment: .fixed(seed: 9))
    #expect(report.lost.map(\.numbers) == [1...1])
    #expect(report.lostValues.map(\.number) == [3])
    _ = try Store(location(files, SalvageLab.out), creates: false, options: .readOnly)
  }

  /// What could be read of a damaged base speaks of a value that is not there, and one with a
  /// greater number comes behind it: the new store had a reference to nothing.
  @Test func aLostValueOfWhatIsLeftOfABase() throws {
    let files = MemoryFileSystem()
    var crafted = try CraftedStore(files, base: 1)
    try crafted.note(1, id: "a", text: CraftedStore.value(1))
    try crafted.writeBase(1)
    try crafted.largeValue(2)
    try crafted.transaction(2, text: .large(CraftedStore.value(2)))
    try crafted.log.putInPlace()
    var bytes = try files.contents(of: SampleFile.path)
    // The chunk behind that of the rows holds the ids.
    let chunks = try frameList(bytes).filter { $0.kind == .chunk }
    bytes[Int(chunks[1].offset) + 26] ^= 1
    let (report, store) = try SalvageLab.salvage(bytes)
    #expect(report.lost.map(\.numbers) == [1...1], "\(report.lines())")
    #expect(report.lostValues.map(\.number) == [1])
    #expect(report.lines().contains("lost: the 5000 bytes of large value 1, text of Note#1"))
    #expect(try texts(store) == [1: "lost", 2: CraftedStore.text(2)])
  }

  /// Of such a value a store cannot say that it is lost: what mentions it is no transaction of a
  /// store, nor a base.
  @Test(
    arguments: [(0, 5_000), (1 << 63, 5_000), (FormatLimits.maximumNumber, 5_000), (7, 0)]
      + [(7, 1 << 63)] as [(UInt64, UInt64)])
  func aValueThatNoStoreCanHave(number: UInt64, length: UInt64) throws {
    let value = LargeValue(tag: .string, number: number, length: length, checksum: 5)
    let files = MemoryFileSystem()
    var crafted = try CraftedStore(files, base: 0)
    try crafted.transaction(1, text: .null, definesSchema: true)
    try crafted.transaction(2, text: .large(value))
    try crafted.transaction(3, text: "short")
    try crafted.log.putInPlace()
    let (report, store) = try SalvageLab.salvage(files.contents(of: SampleFile.path))
    #expect(report.lost.map(\.numbers) == [2...2], "\(report.lines())")
    #expect(report.lostValues.isEmpty)
    #expect(try texts(store) == [1: "none", 3: "short"])

    try files.remove(SampleFile.path)
    var second = try CraftedStore(files, base: 1)
    try second.note(1, id: "a", text: value)
    try second.writeBase(1)
    try second.transaction(2, text: "short")
    try second.log.putInPlace()
    let (other, left) = try SalvageLab.salvage(files.contents(of: SampleFile.path))
    #expect(other.lost.map(\.numbers) == [1...1], "\(other.lines())")
    #expect(try texts(left) == [1: "none", 2: "short"])
  }
}
