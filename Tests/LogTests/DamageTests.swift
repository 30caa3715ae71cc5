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

  var isRefused: Bool {
    if case .refused = self { true } else { false }
  }
}

/// Small files and the states that they lead through.
struct SmallFile {
  var bytes: Bytes
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
  func outcome(of damaged: Bytes) throws -> DamageOutcome {
    let files = MemoryFileSystem()
    try files.put(damaged, at: LogLab.path)
    let reading = try outcome(files, .reading)
    let isUntouched = try files.contents(of: LogLab.path) == damaged
    #expect(isUntouched, "opening for reading has written")
    let writing = try outcome(files, .writing)
    #expect(reading == writing)
    if writing.isRefused {
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

  /// As `outcome(of:)`, of the file with these bytes behind the end of its log.
  func outcome(behind added: Bytes) throws -> DamageOutcome {
    var bytes = bytes
    let end = Int(try bytes.writerBehindFrames().offset)
    bytes.replaceSubrange(end..<end + added.count, with: added)
    return try outcome(of: bytes)
  }

  /// A frame as a writer would put it behind the end, whose header `edit` changes before its
  /// checksum is computed.
  func frame(
    _ kind: FrameKind, _ payload: Bytes = [], flags: FrameFlags = [],
    _ edit: (inout FrameHeader) -> Void = { _ in }
  ) throws -> Bytes {
    let seed = try bytes.fileHeader().seed
    let writer = try bytes.writerBehindFrames()
    var header = FrameHeader(
      kind: kind, flags: flags, payloadLength: UInt32(payload.count),
      payloadChecksum: payload.withUnsafeBytes { seed.checksum($0, at: writer.offset) },
      previousChecksum: writer.previousChecksum, durableMarkBack: .max)
    edit(&header)
    var frame: Bytes = []
    header.encode(into: &frame, at: writer.offset, seed: seed)
    return frame + payload
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
  private func flips(_ bytes: Bytes) -> [Int] {
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
      let outcome = try file.outcome(of: Bytes(file.bytes[..<length]))
      tally.add(outcome)
      if case .torn = outcome { Issue.record("\(length): a cut that passed for a torn tail") }
      if length < end - 7 { #expect(outcome.isRefused, "\(length): \(outcome)") }
    }
    #expect(tally.refused > 0)
    #expect(tally.newest > 0)
  }

  @Test
  func aCheckpointThatCannotBeUsedIsPassedOver() throws {
    let file = try SmallFile(isClosed: true)
    let places = try LogLab(bytes: file.bytes).log.view
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
      let lab = try LogLab(bytes: damaged)
      #expect(lab.state == file.states[file.head])
      #expect(lab.log.report.start == start)
      #expect(!lab.log.report.findings.isEmpty)
    }
  }

  @Test
  func whatMayStandBehindTheEnd() throws {
    let file = try SmallFile(isClosed: false)
    let later = FrameKind(rawValue: 99)
    let harmless: [Bytes] = [
      // Bytes of something else; a part of a header; a frame that reaches beyond the file's end.
      [1, 2, 3, 4, 5, 6, 7, 8, 9], [0, 0, 0, 0, 0, 0, 0, 1],
      try file.frame(.transaction, [1]) { $0.payloadLength = 1 << 20 },
      // Whole frames of no whole unit; a frame that does not follow.
      try file.frame(.chunk, [1, 2, 3]), try file.frame(.largeValue, [1, 3, 0, 1, 2, 3]),
      try file.frame(.block, [1, 2, 3], flags: .continued),
      try file.frame(.transaction, [1, 2]) { $0.previousChecksum ^= 1 },
      // A frame of a later version that may be skipped.
      try file.frame(later, [7], flags: .skippable),
    ]
    for bytes in harmless {
      #expect(try file.outcome(behind: bytes) == .newest(findings: 0), "\(bytes)")
    }
  }

  @Test
  func whatIsRefusedBehindTheEnd() throws {
    let file = try SmallFile(isClosed: false)
    // A mark beyond the bad spot, in a valid frame behind it.
    let offset = try file.bytes.writerBehindFrames().offset + 64
    let seed = try file.bytes.fileHeader().seed
    var header = FrameHeader(
      kind: .chunk, flags: [], payloadLength: 0,
      payloadChecksum: Bytes().withUnsafeBytes { seed.checksum($0, at: offset) },
      previousChecksum: 0, durableMarkBack: 8)
    var proven = Bytes(repeating: 1, count: 64)
    header.encode(into: &proven, at: offset, seed: seed)
    let refused: [Bytes] = [
      // Written by a later version: nothing of it may be cleared away.
      try file.frame(FrameKind(rawValue: 99), [7]),
      try file.frame(.transaction, [7], flags: .encrypted),
      try file.frame(.transaction, [7], flags: FrameFlags(rawValue: 64)),
      try file.frame(.transaction, [7]) { $0.payloadLength = 17 << 20 },
      // A frame whose checksums fit, but which says nothing that can be read, or says it again.
      try file.frame(.transaction, [7]), proven,
    ]
    for bytes in refused {
      let outcome = try file.outcome(behind: bytes)
      #expect(outcome.isRefused, "\(bytes): \(outcome)")
    }
  }

  @Test
  func aFileOfAnotherKindIsNotTouched() throws {
    let zeros = Bytes(repeating: 0, count: 20_000)
    for bytes in [[], [1, 2, 3], zeros, Bytes("SQLite format 3".utf8)] {
      let files = MemoryFileSystem()
      try files.put(bytes, at: LogLab.path)
      #expect(throws: LogError.self) { try LogLab(files, access: .writing) }
      let isUntouched = try files.contents(of: LogLab.path) == bytes
      #expect(isUntouched)
    }
  }
}
