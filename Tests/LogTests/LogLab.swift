import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import AnnalsLog

typealias Bytes = ContiguousArray<UInt8>

/// A state small enough to be compared whole: rows with a title each.
struct Titles: Equatable {
  var number: Int64 = 0
  var titles: [Int64: String] = [:]

  /// Applies the transactions of a batch, forward.
  mutating func apply(_ batch: ChangeBatch) throws {
    for record in batch.transactions {
      if record.part == 0 {
        #expect(record.number == number + 1)
        number = record.number
      } else {
        #expect(record.number == number)
      }
      for change in batch.changes[record.changeRange] {
        guard change.kind != .delete else {
          titles[change.row] = nil
          continue
        }
        for property in batch.properties[change.propertyRange] {
          let value = batch.arena.withUnsafeBytes { property.after.value(in: $0) }
          switch value {
          case .string(let text): titles[change.row] = text
          case .large(let large): titles[change.row] = "large \(large.number)"
          default: Issue.record("an unexpected value \(value)")
          }
        }
      }
    }
  }

  /// The payload of the one chunk of a checkpoint.
  var chunk: ContiguousArray<UInt8> {
    var bytes: ContiguousArray<UInt8> = []
    for (row, title) in titles.sorted(by: { $0.key < $1.key }) {
      bytes.append(varInt: UInt64(row))
      bytes.append(string: title)
    }
    return bytes
  }

  init() {}

  /// The state that a replay starts from.
  init(_ start: LogStart) throws {
    number = start.number
    guard let entity = start.directory?.entities.first else { return }
    for reference in entity.rows {
      let chunk = try start.file.chunk(reference)
      try chunk.withUnsafeBytes { bytes in
        var reader = ByteReader(bytes)
        while reader.remaining > 0 {
          titles[Int64(try reader.readVarInt())] = try reader.readString()
        }
      }
    }
  }

  /// The state at the end of a recovery.
  init(_ recovery: inout LogRecovery) throws {
    var batch = ChangeBatch()
    while let step = try recovery.next(into: &batch) {
      do {
        switch step {
        case .restore(let start): self = try Titles(start)
        case .apply: try apply(batch)
        }
      } catch {
        try recovery.reject(error)
      }
    }
  }

  /// Stores the state as one chunk.
  func store(in chunks: ChunkStore) throws -> [EntityDirectory] {
    let reference = try chunk.withBytes { bytes throws(LogError) in
      try chunks(bytes, 1, UInt32(titles.count))
    }
    let next = (titles.keys.max() ?? 0) + 1
    return [
      EntityDirectory(
        entity: 1, nextRow: next, liveCount: Int64(titles.count), rows: [reference])
    ]
  }
}

/// A log with the state that it leads to, on some file system, and verbs to write to it.
final class LogLab {
  static let path = "/store"
  static let uuid = RawUUID(high: 0x1111_2222_3333_4444, low: 0x5555_6666_7777_8888)

  let files: any FileSystem
  let log: LogFile
  var state: Titles
  /// The large values given to rows by this lab.
  var large: [Int64: LargeValue] = [:]

  /// Told of each state that a transaction is about to make.
  var willAppend: (Titles) -> Void = { _ in }

  /// Opens the log, made first if `creates`.
  init(
    _ files: any FileSystem, creates: Bool = true, access: FileAccess = .writing,
    durability: LogDurability = .full, readsUpToDamage: Bool = false, opening: UInt64 = 7
  ) throws {
    self.files = files
    if creates {
      _ = try LogFile.create(
        at: LogLab.path, in: files,
        NewLog(store: LogLab.uuid, created: Timestamp(microseconds: 1_000)))
    }
    let options = LogOptions(
      access: access, durability: durability, readsUpToDamage: readsUpToDamage,
      opening: Opening(number: 0, id: opening, processName: "lab", processID: 42))
    var recovery = try LogFile.recover(at: LogLab.path, in: files, options)
    state = try Titles(&recovery)
    log = try LogFile(recovery)
  }

  /// Opens a log in memory that has these bytes.
  convenience init(
    bytes: Bytes, access: FileAccess = .reading, readsUpToDamage: Bool = false, opening: UInt64 = 7
  ) throws {
    let files = MemoryFileSystem()
    try files.put(bytes, at: LogLab.path)
    try self.init(
      files, creates: false, access: access, readsUpToDamage: readsUpToDamage, opening: opening)
  }

  /// The bytes of the file.
  func contents() throws -> Bytes { try files.contents(of: LogLab.path) }

  /// The batch of one transaction that gives the rows these titles.
  static func batch(_ titles: [(row: Int64, title: String)], old: Titles) -> ChangeBatch {
    var batch = ChangeBatch()
    for (row, title) in titles {
      let before = old.titles[row].map(Value.string)
      batch.append(
        before == nil ? .insert : .update, 1, row, [(1, before ?? .null, .string(title))])
    }
    return batch
  }

  /// The moment of the next transactions, if it does not follow from their number.
  var timestamp: Timestamp?
  /// Whether the next transactions say that their clock had jumped back.
  var clockJumps = false

  func draft(author: String? = "ann") -> TransactionEnvelope {
    TransactionEnvelope(
      timestamp: timestamp ?? Timestamp(microseconds: 1_000_000 * (state.number + 1)),
      author: author, context: "lab", extensions: clockJumps ? ExtensionArea.ofClockJump : [])
  }

  /// Takes the lock and catches up.
  func lock() throws {
    switch try log.lock(.none) {
    case .current: break
    case .behind: try catchUp()
    case .replaced: try reload()
    }
  }

  func reload(from choice: StartChoice = .newest) throws {
    var recovery = try log.recover(from: choice)
    let reloaded = try Titles(&recovery)
    try log.adopt(recovery)
    state = reloaded
  }

  func catchUp() throws {
    guard var catchUp = try log.catchUp() else { return }
    var newest = state
    var batch = ChangeBatch()
    while try catchUp.next(into: &batch) {
      do {
        try newest.apply(batch)
      } catch {
        throw catchUp.locating(error)
      }
    }
    try log.adopt(catchUp)
    state = newest
  }

  /// Appends a transaction under the lock, which is held.
  func append(_ titles: [(row: Int64, title: String)], author: String? = "ann") throws {
    var batch = LogLab.batch(titles, old: state)
    var next = state
    next.number += 1
    for (row, title) in titles { next.titles[row] = title }
    willAppend(next)
    let position = try log.append(draft(author: author), &batch)
    #expect(position.number == next.number)
    state = next
  }

  /// One transaction, locked, appended, synced, unlocked.
  func commit(_ titles: [(row: Int64, title: String)]) throws {
    try lock()
    defer { log.unlock() }
    try append(titles)
    try log.sync()
  }

  /// A checkpoint of the state, under the lock.
  func checkpoint() throws {
    try lock()
    defer { log.unlock() }
    let state = state
    try log.writeCheckpoint(schema: Schema()) { try state.store(in: $0) }
  }

  /// All transactions that the log's history has, as text, in the order of reading.
  static func history(
    _ view: LogView, after: Int64? = nil, through: Int64? = nil,
    direction: HistoryDirection = .forward, skipping filter: HistoryFilter = .none
  ) throws -> [String] {
    var cursor = try view.history(
      after: after ?? view.base, through: through ?? view.head.number, direction: direction,
      skipping: filter)
    var batch = ChangeBatch()
    var lines: [String] = []
    while try cursor.next(into: &batch) {
      for record in batch.transactions {
        var line = "\(record.number)"
        if record.part > 0 || record.isContinued { line += ".\(record.part)" }
        line += " \(record.timestamp.microseconds / 1_000_000)"
        line += " \(view.name(record.author) ?? "-")"
        for entry in record.metadata { line += " \(entry.key)" }
        if record.changeCount > 8 {
          line += " \(record.changeCount) changes"
        } else {
          for change in batch.changes[record.changeRange] {
            for property in batch.properties[change.propertyRange] {
              let value = batch.arena.withUnsafeBytes { property.after.value(in: $0) }
              line += " \(change.row)=\(value)"
            }
          }
        }
        lines.append(line)
      }
    }
    return lines
  }
}

extension LogLab {
  /// A transaction that gives a row a large value, in one place with others.
  func appendLarge(row: Int64, byte: UInt8, count: Int) throws {
    let bytes = ContiguousArray<UInt8>(repeating: byte, count: count)
    try log.begin()
    let value = try bytes.withBytes { bytes throws(LogError) in
      try log.appendLargeValue(bytes, tag: .data)
    }
    let old = large[row].map(Value.large) ?? state.titles[row].map(Value.string)
    var batch = ChangeBatch(
      old == nil ? .insert : .update, 1, row, [(1, old ?? .null, .large(value))])
    var next = state
    next.number += 1
    next.titles[row] = "large \(value.number)"
    willAppend(next)
    try log.describe(draft())
    try log.appendPart(&batch, isLast: true)
    #expect(try log.commit().number == next.number)
    state = next
    large[row] = value
  }

  /// A transaction in these parts.
  func appendParts(_ parts: [[(row: Int64, title: String)]]) throws {
    var next = state
    next.number += 1
    for (row, title) in parts.joined() { next.titles[row] = title }
    willAppend(next)
    try log.begin()
    try log.describe(draft())
    for (index, titles) in parts.enumerated() {
      var part = LogLab.batch(titles, old: state)
      try log.appendPart(&part, isLast: index == parts.count - 1)
    }
    #expect(try log.commit().number == next.number)
    state = next
  }

  /// The large values that history mentions and the file holds, each with what it is made of.
  func largeValues() throws -> [String] {
    var result: Set<String> = []
    var batch = ChangeBatch()
    var cursor = try log.view.history(after: log.view.base, through: log.view.head.number)
    while try cursor.next(into: &batch) {
      for property in batch.properties {
        for cell in [property.before, property.after] {
          let value = batch.arena.withUnsafeBytes { cell.value(in: $0) }
          guard case .large(let large) = value else { continue }
          let bytes = try log.view.bytes(of: large)
          result.insert("large \(large.number): \(bytes.count) times \(bytes[0])")
        }
      }
    }
    return result.sorted()
  }

  /// The state as of a transaction, by replay from the base.
  func state(at number: Int64) throws -> Titles {
    let view = log.view
    let directory = try view.baseDirectory()
    var state = try Titles(
      LogStart(directory: directory, number: view.base, schema: Schema(), file: view.file))
    var batch = ChangeBatch()
    var cursor = try view.history(after: view.base, through: number)
    while try cursor.next(into: &batch) { try state.apply(batch) }
    return state
  }

  /// Gives the checkpoint at the end of the log an extension area, and opens the file anew.
  func giveCheckpoint(extensions: ContiguousArray<UInt8>) throws {
    let view = log.view
    let place = try #require(view.tables.checkpoint)
    let (header, old) = try view.file.directory(at: place.offset)
    var directory = old
    directory.extensions = extensions
    var writer = FrameWriter(
      seed: view.file.header.seed, offset: place.offset, previousChecksum: header.previousChecksum,
      durableMark: nil)
    writer.append(.checkpoint, directory.encode())
    try #require(view.end == place.offset + header.frameLength)
    try files.overwrite(writer.bytes, at: place.offset, of: LogLab.path)
    for slot in try view.file.slots().valid where slot.durableMark == view.end {
      var slot = slot
      slot.durableMark = writer.offset
      slot.extent = max(slot.extent, writer.offset)
      slot.markChecksum = writer.previousChecksum
      try files.overwrite(
        slot.encode(seed: view.file.header.seed), at: FormatLimits.slotOffsets[slot.index],
        of: LogLab.path)
    }
    try reload()
  }

  /// Rewrites the file and reloads it.
  func rewrite(_ plan: RewritePlan) throws -> RewriteReport {
    let rewriter = try log.rewrite(plan)
    try rewriter.copy()
    try lock()
    defer { log.unlock() }
    let report = try rewriter.putInPlace()
    if report.outcome == .done { try reload() }
    return report
  }

  func prunePlan(_ base: Int64, _ past: Titles, isPruned: Bool = true) throws -> RewritePlan {
    let numbers = past.titles.values.compactMap { title in
      title.hasPrefix("large ") ? UInt64(title.dropFirst(6)) : nil
    }
    return RewritePlan(
      base: .at(
        number: base, timestamp: try log.view.position(of: base).maximumTimestamp,
        prunedAt: isPruned ? Timestamp(microseconds: 99) : nil, prunedBy: "cleaner"
      ) { writer in
        BaseImage(schema: Schema(), entities: try past.store(in: writer), largeValues: numbers)
      }, checkpoint: true, destination: .replace)
  }
}
