import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsLog

/// What a damaged file gives: everything with or without a finding, an earlier state that is called
/// one, or a typed error; never a wrong state, and never less than was acknowledged without a word.
enum DamageOutcome: Equatable {
  /// The newest state; how many findings there were.
  case newest(findings: Int)
  /// An earlier state, with a torn tail reported.
  case torn(head: Int64)
  /// An error that names the damage.
  case refused(String)
}

/// Small files and the states that they lead through.
struct SmallFile {
  var bytes: [UInt8]
  var states: [Int64: Titles] = [:]
  var head: Int64
  /// The head before the last sync group.
  var lastSynced: Int64

  /// A file of twelve transactions with two checkpoints, a large value and a transaction in parts,
  /// closed or not.
  init(isClosed: Bool, durability: LogDurability = .full) throws {
    let files = MemoryFileSystem()
    let lab = try LogLab(files, durability: durability)
    var states: [Int64: Titles] = [0: lab.state]
    for number in 1...3 {
      try lab.commit([(Int64(number), "title \(number)")])
      states[lab.state.number] = lab.state
    }
    try lab.checkpoint()
    try lab.commit([(1, "four")])
    states[lab.state.number] = lab.state
    try lab.lock()
    try lab.appendLarge(row: 50, byte: 7, count: 300)
    states[lab.state.number] = lab.state
    try lab.log.sync()
    lab.log.unlock()
    try lab.checkpoint()
    for number in 6...8 {
      try lab.commit([(Int64(number), "title \(number)"), (1, "again \(number)")])
      states[lab.state.number] = lab.state
    }
    // A transaction in two parts.
    try lab.lock()
    try lab.appendParts([[(20, "part")], [(21, "the rest")]])
    states[lab.state.number] = lab.state
    try lab.log.sync()
    lastSynced = lab.state.number
    // A group of two.
    try lab.append([(10, "ten")])
    states[lab.state.number] = lab.state
    try lab.append([(11, "eleven")])
    states[lab.state.number] = lab.state
    try lab.log.sync()
    lab.log.unlock()
    head = lab.state.number
    if isClosed { try lab.log.close() }
    bytes = try files.contents(of: LogLab.path)
    self.states = states
  }

  /// Opens the bytes for reading and for writing, and checks that neither gives a wrong state.
  func outcome(of damaged: [UInt8]) throws -> DamageOutcome {
    let files = MemoryFileSystem()
    try files.put(damaged, at: LogLab.path)
    let reading = try outcome(files, .reading)
    let isUntouched = try files.contents(of: LogLab.path) == damaged
    #expect(isUntouched, "opening for reading has written")
    let writing = try outcome(files, .writing)
    #expect(reading == writing)
    if case .refused = writing {
      let isUntouched = try files.contents(of: LogLab.path) == damaged
      #expect(isUntouched, "a damaged file was written to")
      // On request, a prefix of the history can still be read, unless the header is gone.
      if let lab = try? LogLab(files, creates: false, access: .reading, readsUpToDamage: true) {
        #expect(states[lab.state.number] == lab.state)
      }
    } else {
      try goOn(files)
    }
    return writing
  }

  private func outcome(_ files: MemoryFileSystem, _ access: FileAccess) throws -> DamageOutcome {
    do {
      let lab = try LogLab(files, creates: false, access: access)
      #expect(states[lab.state.number] == lab.state, "a state that never was")
      let report = lab.log.report
      if lab.state.number == head { return .newest(findings: report.findings.count) }
      guard case .unfinished = report.tail else {
        Issue.record("\(lab.state.number) of \(head), and the tail is \(report.tail)")
        return .torn(head: lab.state.number)
      }
      return .torn(head: lab.state.number)
    } catch let error as LogError {
      switch error {
      case .damage, .header, .decode, .unsupported: return .refused("\(error)")
      default:
        Issue.record("an error that does not speak of damage: \(error)")
        return .refused("\(error)")
      }
    }
  }

  /// Writes on, and opens again: what was there must stay.
  private func goOn(_ files: MemoryFileSystem) throws {
    let lab = try LogLab(files, creates: false, opening: 8)
    try lab.commit([(99, "after the damage")])
    try lab.log.close()
    let again = try LogLab(files, creates: false, access: .reading)
    #expect(again.state == lab.state)
    #expect(again.log.report.tail == .clean)
  }
}

struct DamageTests {
  private struct Tally {
    var newest = 0
    var findings = 0
    var torn = 0
    var refused = 0

    mutating func add(_ outcome: DamageOutcome) {
      switch outcome {
      case .newest(let count):
        newest += 1
        if count > 0 { findings += 1 }
      case .torn: torn += 1
      case .refused: refused += 1
      }
    }
  }

  /// Every bit of the parts of a file that hold something, and some of the zeros between.
  private func flips(_ bytes: [UInt8]) -> [Int] {
    var result: [Int] = []
    for offset in bytes.indices {
      let isNear = bytes[max(0, offset - 64)..<min(bytes.count, offset + 65)].contains { $0 != 0 }
      let isSample = offset % 997 == 0
      if isNear { result += (0..<8).map { offset * 8 + $0 } }
      if !isNear, isSample { result.append(offset * 8 + offset % 8) }
    }
    return result
  }

  @Test(arguments: [true, false])
  func everyBitFlipped(isClosed: Bool) throws {
    let file = try SmallFile(isClosed: isClosed)
    var tally = Tally()
    // By default one bit of every third byte, another one in each run of eight.
    for bit in flips(file.bytes) where isLong || (bit / 8 % 3 == 0 && bit % 8 == bit / 8 % 8) {
      var damaged = file.bytes
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      let outcome = try file.outcome(of: damaged)
      tally.add(outcome)
      if case .torn(let head) = outcome {
        let isLastGroup = !isClosed && head >= file.lastSynced
        #expect(isLastGroup, "bit \(bit) of \(isClosed): \(head)")
      }
    }
    #expect(tally.newest > 0 && tally.findings > 0 && tally.refused > 0)
    #expect((tally.torn > 0) == !isClosed)
  }

  @Test(arguments: [true, false])
  func everyLength(isClosed: Bool) throws {
    let file = try SmallFile(isClosed: isClosed)
    let end = file.bytes.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
    var tally = Tally()
    let step = isLong ? 977 : 9_770
    let lengths = Array(0..<end + 9) + stride(from: end + 9, to: file.bytes.count, by: step)
    for length in lengths where length <= file.bytes.count {
      if !isLong, length % (length < 12_288 ? 97 : 5) != 0, length < end { continue }
      let outcome = try file.outcome(of: Array(file.bytes[..<length]))
      tally.add(outcome)
      if case .torn = outcome { Issue.record("\(length): a cut that passed for a torn tail") }
      if length < end - 7 {
        guard case .refused = outcome else {
          Issue.record("\(length): \(outcome)")
          continue
        }
      }
    }
    #expect(tally.refused > 0)
    #expect(tally.newest > 0)
  }

  @Test
  func aCheckpointThatCannotBeUsedIsPassedOver() throws {
    let file = try SmallFile(isClosed: true)
    let files = MemoryFileSystem()
    try files.put(file.bytes, at: LogLab.path)
    let places = try LogLab(files, creates: false, access: .reading).log.view
    let newest = try #require(places.tables.checkpoint)
    let directory = try places.file.directory(at: newest.offset).directory
    #expect(directory.number == 5)
    let earlier = try #require(directory.previousCheckpoint)
    // The directory's payload; then its chunk; then both checkpoints.
    for (offsets, start) in [
      ([newest.offset + 30], 3), ([directory.entities[0].rows[0].offset + 26], 0),
      ([newest.offset + 30, earlier.offset + 30], 0),
    ] as [([UInt64], Int64)] {
      var damaged = file.bytes
      for offset in offsets { damaged[Int(offset)] ^= 0x10 }
      try files.put(damaged, at: LogLab.path)
      let lab = try LogLab(files, creates: false, access: .reading)
      #expect(lab.state == file.states[file.head])
      #expect(lab.log.report.start == start)
      #expect(!lab.log.report.findings.isEmpty)
    }
  }

  /// The bytes of an open file with something put behind its end.
  private func outcome(
    behind file: SmallFile, _ make: (LogView) -> ContiguousArray<UInt8>
  ) throws -> DamageOutcome {
    let files = MemoryFileSystem()
    try files.put(file.bytes, at: LogLab.path)
    let view = try LogLab(files, creates: false, access: .reading).log.view
    var bytes = file.bytes
    let added = make(view)
    let end = Int(view.end)
    bytes.replaceSubrange(end..<end + added.count, with: added)
    return try file.outcome(of: bytes)
  }

  /// A frame header as a writer would put it behind the end, and its payload.
  private func frame(
    _ view: LogView, _ kind: FrameKind, _ payload: [UInt8], length: UInt32? = nil,
    follows: Bool = true, flags: FrameFlags = [], markBack: UInt32 = .max
  ) -> ContiguousArray<UInt8> {
    let seed = view.file.header.seed
    var last = UInt32(0)
    var walk = FrameWalk(
      view.file, from: ChainPoint(beginningOf: view.file.header), limit: view.end)
    while case .frame(let frame)? = try? walk.next() { last = frame.header.checksum }
    let checksum = payload.withUnsafeBytes { seed.checksum($0, at: view.end) }
    var header = FrameHeader(
      kind: kind, flags: flags, payloadLength: length ?? UInt32(payload.count),
      payloadChecksum: checksum, previousChecksum: follows ? last : last ^ 1,
      durableMarkBack: markBack)
    var bytes: ContiguousArray<UInt8> = []
    header.encode(into: &bytes, at: view.end, seed: seed)
    return bytes + payload
  }

  @Test
  func whatMayStandBehindTheEnd() throws {
    let file = try SmallFile(isClosed: false)
    let newest = DamageOutcome.newest(findings: 0)
    // Bytes of something else; a part of a header; a frame that reaches beyond the end of the file.
    #expect(try outcome(behind: file) { _ in [1, 2, 3, 4, 5, 6, 7, 8, 9] } == newest)
    #expect(try outcome(behind: file) { _ in [0, 0, 0, 0, 0, 0, 0, 1] } == newest)
    #expect(
      try outcome(behind: file) { frame($0, .transaction, [1], length: 1 << 20) } == newest)
    // Whole frames of no whole unit; a frame that does not follow.
    #expect(try outcome(behind: file) { frame($0, .chunk, [1, 2, 3]) } == newest)
    #expect(try outcome(behind: file) { frame($0, .largeValue, [1, 3, 0, 1, 2, 3]) } == newest)
    #expect(
      try outcome(behind: file) { frame($0, .block, [1, 2, 3], flags: .continued) } == newest)
    #expect(
      try outcome(behind: file) { frame($0, .transaction, [1, 2], follows: false) } == newest)
    // A frame of a later version that may be skipped.
    let later = FrameKind(rawValue: 99)
    #expect(try outcome(behind: file) { frame($0, later, [7], flags: .skippable) } == newest)
  }

  @Test
  func whatIsRefusedBehindTheEnd() throws {
    let file = try SmallFile(isClosed: false)
    func isRefused(_ make: (LogView) -> ContiguousArray<UInt8>) throws -> Bool {
      if case .refused = try outcome(behind: file, make) { true } else { false }
    }
    // Written by a later version: nothing of it may be cleared away.
    #expect(try isRefused { frame($0, FrameKind(rawValue: 99), [7]) })
    #expect(try isRefused { frame($0, .transaction, [7], flags: .encrypted) })
    #expect(try isRefused { frame($0, .transaction, [7], flags: FrameFlags(rawValue: 64)) })
    #expect(try isRefused { frame($0, .transaction, [7], length: 17 << 20) })
    // A frame whose checksums fit, but which says nothing that can be read, or says it again.
    #expect(try isRefused { frame($0, .transaction, [7]) })
    // A mark beyond the bad spot, in a valid frame behind it.
    #expect(
      try isRefused { view in
        let garbage = ContiguousArray<UInt8>(repeating: 1, count: 64)
        let seed = view.file.header.seed
        let offset = view.end + 64
        var header = FrameHeader(
          kind: .chunk, flags: [], payloadLength: 0,
          payloadChecksum: [UInt8]().withUnsafeBytes { seed.checksum($0, at: offset) },
          previousChecksum: 0, durableMarkBack: 8)
        var bytes = garbage
        header.encode(into: &bytes, at: offset, seed: seed)
        return bytes
      })
  }

  @Test
  func aFileOfAnotherKindIsNotTouched() throws {
    let zeros = [UInt8](repeating: 0, count: 20_000)
    for bytes in [[], [1, 2, 3], zeros, Array("SQLite format 3".utf8)] as [[UInt8]] {
      let files = MemoryFileSystem()
      try files.put(bytes, at: LogLab.path)
      #expect(throws: LogError.self) { try LogLab(files, access: .writing) }
      let isUntouched = try files.contents(of: LogLab.path) == bytes
      #expect(isUntouched)
    }
  }
}
