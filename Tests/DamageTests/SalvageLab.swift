import Annals
import AnnalsExchange
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsSalvage
import AnnalsState
import AnnalsStorage
import AnnalsTestSupport
import Testing

/// Salvages damaged bytes, and compares what comes out with what was there.
struct SalvageLab {
  let original: Reading
  let bytes: ContiguousArray<UInt8>
  let base: Int64
  let head: Int64
  /// Whether the slots are those of a clean close, or of a rewrite.
  private let wasClosed: Bool
  /// The frames that hold transactions, with the large values before them: which numbers need which
  /// bytes.
  private let frames: [(range: Range<UInt64>, numbers: ClosedRange<Int64>)]
  /// Where the large values before each of those frames begin, or the frame itself.
  private let beginnings: [Int64: UInt64]

  static let out = "/salvaged.annals"

  init(_ bytes: ContiguousArray<UInt8>) throws {
    self.bytes = bytes
    let store = try openForReading(bytes)
    original = try Reading(store)
    base = store.base.number
    head = store.token.number
    let file = try sampleFile(bytes).opened()
    var walk = try FileWalk(file)
    let source = try #require(try FrameSource(file))
    var frames: [(range: Range<UInt64>, numbers: ClosedRange<Int64>)] = []
    var marks: [UInt64] = []
    var beginnings: [Int64: UInt64] = [:]
    var beginning: UInt64?
    while let region = try walk.next() {
      if case .slot(_, .valid(let slot)) = region.content {
        marks += [slot.durableMark, slot.extent]
      }
      guard let frame = region.frame else { continue }
      let start = beginning ?? region.offset
      beginning = [.largeValue, .chunk].contains(frame.header.kind) ? start : nil
      guard let batch = try source.transactions(at: region.offset),
        let first = batch.transactions.first, let last = batch.transactions.last
      else { continue }
      if first.part == 0 { beginnings[first.firstNumber] = start }
      frames.append((region.offset..<region.end, first.firstNumber...last.number))
    }
    self.frames = frames
    self.beginnings = beginnings
    wasClosed = marks.count == 4 && Set(marks).count == 1
  }

  /// The transactions whose frames have other bytes in `damaged`.
  func damagedTransactions(in damaged: ContiguousArray<UInt8>) -> Set<Int64> {
    var result: Set<Int64> = []
    for (range, numbers) in frames {
      let same = range.allSatisfy { offset in
        let index = Int(offset)
        return index < damaged.count && damaged[index] == bytes[index]
      }
      if !same { result.formUnion(numbers) }
    }
    return result
  }

  /// Whether anything is left in `damaged` of what a transaction wrote, or of what came behind it.
  private func leavesTrace(of number: Int64, _ damaged: ContiguousArray<UInt8>) -> Bool {
    let logStart = Int(FormatLimits.logStart)
    let slots = 4_096..<logStart
    let hasSlots = damaged.count >= logStart && damaged[slots] == bytes[slots]
    if damaged.count < bytes.count, hasSlots { return true }
    guard let beginning = beginnings[number] else { return true }
    return damaged.dropFirst(Int(beginning)).contains { $0 != 0 }
  }

  /// Salvages the bytes, and checks that what is said to be lost is what is damaged, and that all
  /// else is as it was. Returns the report; nil if nothing could be read.
  @discardableResult
  func check(_ damaged: ContiguousArray<UInt8>, _ what: String) throws -> SalvageReport? {
    let files = MemoryFileSystem()
    let location = try sampleFile(damaged, in: files)
    let report: SalvageReport
    do {
      report = try Store.salvage(location, to: SalvageLab.out, environment: .fixed(seed: 9))
    } catch {
      #expect(files.paths == [SampleFile.path], "\(what): \(error) left something")
      guard damaged.count < 12_288 || error.code == .newerVersion || error.code == .damaged else {
        Issue.record("\(what): \(error)")
        return nil
      }
      return nil
    }
    #expect(try files.contents(of: SampleFile.path) == damaged, "\(what): the file was written to")
    let salvaged = try files.contents(of: SalvageLab.out)
    let lost = Set(report.lost.flatMap { Array($0.numbers) })
    let gone = damagedTransactions(in: damaged)
    // Padding is in a frame, but not of it; and what follows the newest number may not be nameable.
    #expect(
      lost.isSubset(of: gone.union(lostBase(report))),
      "\(what): \(lost) lost, \(gone) gone: \(report.lines())")
    for number in gone.subtracting(lost) where number <= report.head {
      let text = try transaction(number, in: salvaged)
      // One with a large value that is lost cannot be read.
      let isThere =
        text.map { isSame($0, original.transactions[number] ?? "") } ?? !report.lostValues.isEmpty
      #expect(isThere, "\(what): \(number) is gone, and \(report.lines())")
    }
    // What was written behind a clean close, and not yet synced twice, may leave no trace; nor do
    // zeros that look as space which was never written to.
    if report.head < head, !wasClosed || damaged.count == bytes.count {
      let isMissed = report.hasProvenEnd || leavesTrace(of: report.head + 1, damaged)
      #expect(report.rest != nil || !isMissed, "\(what): \(report.lines())")
    }
    try compare(salvaged, report, lost, what)
    if !report.isComplete { try rewrite(salvaged, report, what) }
    return report
  }

  /// Writes to the salvaged store, compacts and prunes it, and expects what it said before of every
  /// transaction that is left.
  private func rewrite(
    _ salvaged: ContiguousArray<UInt8>, _ report: SalvageReport, _ what: String
  ) throws {
    let gap = report.lost.last?.last ?? report.head
    for (way, base) in [("compact", nil), ("prune", gap + 1), ("prune", report.head)] {
      let isWithinGap = report.lost.contains {
        $0.numbers.contains((base ?? 0) - 1) && $0.last != (base ?? 0) - 1
      }
      guard base ?? 1 <= report.head, !isWithinGap else { continue }
      let location = try sampleFile(salvaged)
      let store = try Store(location, creates: false, environment: .fixed(seed: 12))
      if store.schema.entity(named: "Folder") != nil {
        try store.write { try $0.insert("Folder", ["name": "behind the salvage"]) }
      }
      let before = SalvageLab.states(of: store)
      if let base, base > store.base.number + 1 {
        try store.prune(store.prunePlan(before: base), force: true)
        #expect(store.base.number == base - 1, "\(what): \(way)")
      } else {
        try store.compact()
        try store.compact(smallest: true)
      }
      try store.close()
      let found = try verify(location.contents()).filter { !$0.hasPrefix("note") }
      #expect(found.isEmpty, "\(what): \(way): \(found)")
      let after = SalvageLab.states(of: try location.store(.readOnly))
      for (number, state) in after {
        // The state behind a gap that is not exact can be had once it is the base.
        if base == number + 1, before[number] == "refused: lost" { continue }
        #expect(state == before[number], "\(what): \(way), the state as of \(number)")
      }
      #expect(after.keys.max() == before.keys.max(), "\(what): \(way)")
    }
  }

  /// What the store says of the state as of each transaction; a code where it refuses.
  private static func states(of store: Store) -> [Int64: String] {
    var result: [Int64: String] = [:]
    for number in store.base.number...store.token.number {
      do {
        result[number] = try Reading.state(store, number)
      } catch {
        result[number] = "refused: \((error as? AnnalsError)?.code.description ?? "\(error)")"
      }
    }
    return result
  }

  /// A base that could not be read is lost with all before it.
  private func lostBase(_ report: SalvageReport) -> Set<Int64> {
    guard base > 0, let first = report.lost.first, first.first == 1 else { return [] }
    return Set(1...max(base, 1))
  }

  private func transaction(
    _ number: Int64, in bytes: ContiguousArray<UInt8>
  ) throws -> String? {
    let store = try openForReading(bytes)
    return try? Reading.text(store.transaction(number), in: store)
  }

  private func compare(
    _ salvaged: ContiguousArray<UInt8>, _ report: SalvageReport, _ lost: Set<Int64>, _ what: String
  ) throws {
    let found = try verify(salvaged).filter { !$0.hasPrefix("note") }
    #expect(found.isEmpty, "\(what): \(found)")
    let store = try openForReading(salvaged)
    #expect(store.token.number == report.head, "\(what)")
    if store.base.number == base {
      let tombstones = try Reading.tombstones(store)
      #expect(Set(tombstones).isSubset(of: original.tombstones), "\(what): \(tombstones)")
    }
    // Changes say what was before: forward and backward lead to the same states.
    for number in Set(store.base.number...report.head).subtracting(lost) {
      let replayed = try store.version.stateByReplaying(
        from: store.version.view.baseDirectory(), to: number)
      let difference = try State.firstDifference(store.version.state(at: number), replayed)
      #expect(difference == nil, "\(what): \(number)")
    }
    var exact = true
    for number in stride(from: max(1, base), through: report.head, by: 1) {
      let gap = report.lost.first { $0.numbers.contains(number) }
      if let gap {
        if number == gap.last { exact = gap.isExact }
        if number < gap.last, number != store.base.number {
          let code = #expect(throws: AnnalsError.self, "\(what): \(number)") {
            try store.snapshot(at: number)
          }?.code
          #expect(code == .lost, "\(what)")
          continue
        }
      }
      guard exact, report.lostValues.isEmpty else { continue }
      let state = try Reading.state(store, number)
      #expect(state == original.states[number], "\(what): the state as of \(number)")
    }
    var seen: Set<Int64> = []
    try store.history().forEach { transaction in
      if transaction.lost != nil { return }
      seen.insert(transaction.number)
      guard report.lostValues.isEmpty else { return }
      let text = try Reading.text(transaction, in: store)
      let expected = original.transactions[transaction.number] ?? ""
      #expect(isSame(text, expected), "\(what): \(transaction.number): \(text), was \(expected)")
    }
    let expected = Set(original.transactions.keys).subtracting(lost).filter { $0 <= report.head }
    #expect(seen == Set(expected), "\(what): \(seen.symmetricDifference(expected))")
  }

  /// Whether a transaction is what it was, but for names of authors that are lost, in the first
  /// line; where names of entities or properties are, as many objects are changed.
  private func isSame(_ text: String, _ expected: String) -> Bool {
    let lines = text.split(separator: "\n").dropFirst()
    let others = expected.split(separator: "\n").dropFirst()
    if text.contains("lost entity ") || text.contains("lost property ") {
      return lines.count == others.count
    }
    return lines.elementsEqual(others)
  }
}

extension Store {
  /// What a salvage of the bytes gives.
  static func salvaged(_ bytes: ContiguousArray<UInt8>) throws -> ContiguousArray<UInt8> {
    let location = try sampleFile(bytes)
    _ = try Store.salvage(location, to: SalvageLab.out)
    return try location.contents(of: SalvageLab.out)
  }
}

extension SalvageLab {
  /// Salvages a file of these bytes: what is reported, and the store made, in which nothing may be
  /// wrong.
  static func salvage(
    _ bytes: ContiguousArray<UInt8>, _ comment: Comment? = nil
  ) throws -> (SalvageReport, Store) {
    let location = try sampleFile(bytes)
    let report = try Store.salvage(location, to: out, environment: .fixed(seed: 9))
    let salvaged = try location.contents(of: out)
    let found = try verify(salvaged).filter { !$0.hasPrefix("note") }
    #expect(found == [], comment)
    return (report, try openForReading(salvaged))
  }
}

extension Store {
  /// Expects that what the store exports leads to its own state.
  func expectSameImported(_ what: String) throws {
    guard token.number > 0 else { return }
    var export = HistoryExport(self, after: base.number, through: token.number)
    var lines: ContiguousArray<UInt8> = []
    try export.write(to: { lines += $0 })
    let copy = StoreLocation(fileSystem: MemoryFileSystem(), path: "/copy.annals")
    let reading = HistoryImport(
      MemorySource(lines), into: copy, options: .deferred, environment: .fixed(seed: 2))
    while try reading.next() {}
    let imported = try #require(reading.store, "\(what)")
    #expect(imported.token.number == token.number, "\(what): imported")
    let state = try Reading.state(imported, token.number)
    let expected = try Reading.state(self, token.number)
    #expect(state == expected, "\(what): imported")
  }
}
