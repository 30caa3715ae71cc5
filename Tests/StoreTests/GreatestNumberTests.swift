import Annals
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsSalvage
import AnnalsTestSupport
import Testing

/// Numbers that only a crafted file has: whoever counted on from them ended the process.
///
/// Generations, bases, transactions, slots and large values count to 2^62 - 1 for readers; writers
/// add nothing from 2^61 on.
@Suite struct GreatestNumberTests {
  private static let greatest = Int64(FormatLimits.maximumNumber)

  /// A file of empty transactions whose numbers are chosen.
  private struct Crafted {
    var generation: UInt64 = 1
    var base: Int64 = 0
    var sequence: UInt64 = 2
    var numbers: [Int64] = [1, 2]
    var author: NameNumber = 0

    func location() throws -> StoreLocation {
      var header = FileHeader(
        store: RawUUID(high: 1, low: 2), generation: generation, base: base,
        created: Timestamp(microseconds: 0))
      var bytes = header.encode()
      var writer = FrameWriter(behind: header)
      for number in numbers {
        var batch = ChangeBatch()
        var record = TransactionRecord(number: number, timestamp: Timestamp(microseconds: number))
        record.author = author
        batch.append(record)
        writer.append(.transaction, batch.row())
      }
      for slot in [sequence, sequence - 1].sorted(by: { $0 % 2 < $1 % 2 }) {
        let slot = RootSlot(
          sequence: slot, durableMark: FormatLimits.logStart, head: base,
          markChecksum: header.checksum)
        bytes += slot.encode(seed: header.seed)
      }
      let location = memoryFile()
      try location.fileSystem.put(bytes + writer.bytes, at: location.path)
      return location
    }
  }

  /// Everything that counts on; what it throws, by what was done.
  private func exercise(_ location: StoreLocation) throws -> [String: AnnalsError.Code] {
    var codes: [String: AnnalsError.Code] = [:]
    func attempt(_ what: String, _ body: () throws -> Void) throws {
      do {
        try body()
      } catch let error as AnnalsError {
        codes[what] = error.code
      }
    }
    func open() throws -> Store { try Store(location, creates: false) }
    try attempt("read") {
      let store = try Store(location, creates: false, options: .readOnly)
      _ = try store.snapshot(at: store.token.number)
      _ = try store.history().collect()
      _ = try store.verifyHistory()
      _ = try store.diff(from: store.base.number, to: store.token.number)
    }
    try attempt("salvage") {
      _ = try Store.salvage(location, to: "/salvaged.annals")
      let salvaged = StoreLocation(fileSystem: location.fileSystem, path: "/salvaged.annals")
      let found = try Store(salvaged, creates: false).verifyHistory()
      #expect(found.filter { $0.severity == .error } == [])
    }
    try attempt("write") {
      try open().importTransaction { _ in }
    }
    try attempt("schema") {
      try open().require(noteSchema)
    }
    try attempt("compact") { try open().compact() }
    try attempt("prune") {
      let store = try open()
      try store.prune(store.prunePlan(before: store.token.number))
    }
    try attempt("close") {
      let store = try open()
      try store.refresh()
      try store.close()
    }
    return codes
  }

  @Test func numbersBeyondTheGreatestAreRefused() throws {
    for beyond in [Int64.max, Self.greatest + 1] {
      let crafted: [(String, Crafted)] = [
        ("generation", Crafted(generation: UInt64(beyond))),
        ("generation of 64 bits", Crafted(generation: .max)),
        ("base", Crafted(base: beyond, numbers: [])),
        ("number", Crafted(numbers: [1, beyond])),
      ]
      for (name, file) in crafted {
        let codes = try exercise(file.location())
        #expect(codes["read"] == .damaged, "\(name)")
        #expect(codes["write"] == .damaged, "\(name)")
      }
    }
  }

  /// The greatest numbers are read, and nothing is added behind them.
  @Test func nothingIsAddedToTheGreatest() throws {
    let slot = try exercise(Crafted(sequence: UInt64(Self.greatest)).location())
    #expect(slot == ["write": .tooLarge, "schema": .tooLarge])
    let number = try exercise(
      Crafted(base: Self.greatest - 2, numbers: [Self.greatest - 1, Self.greatest]).location())
    #expect(number["read"] == nil && number["salvage"] == nil)
    #expect(number["write"] == .tooLarge && number["schema"] == .tooLarge)
    let generation = try exercise(Crafted(generation: UInt64(Self.greatest)).location())
    #expect(generation["read"] == nil && generation["write"] == nil)
    #expect(generation["compact"] == .tooLarge && generation["prune"] == .tooLarge)
  }

  /// Once a salvage made up a name for each number up to that which a record spoke of.
  @Test func namesThatNoFileCouldHoldAreNotMadeUp() throws {
    let location = try Crafted(numbers: [1, 5], author: .max).location()
    let report = try Store.salvage(location, to: "/salvaged.annals")
    #expect(report.transactions == 0)
    #expect(report.lines().contains { $0.contains("more names than the file can hold") })
  }
}
