import Annals
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage
import Foundation
import Testing

@testable import AnnalsCommand

/// Records that are whole, and change what is not there: what somebody makes on purpose.
@Suite struct MisfitTests {
  private static let schema = Schema {
    Entity("Note") {
      Attribute("id", .string, isUnique: true)
      Attribute("text", .string)
    }
  }

  /// One change of a note: its row, and its text before and after; the key of an insert is the
  /// row's number.
  private struct Step {
    var kind: ChangeKind
    var row: Int64
    var before: String?
    var after: String?
    /// Begins a transaction; else this is a further part of the one before.
    var isPart = false

    static func insert(_ row: Int64) -> Step {
      Step(kind: .insert, row: row, after: "new \(row)")
    }
    static func update(_ row: Int64, _ before: String, _ after: String) -> Step {
      Step(kind: .update, row: row, before: before, after: after)
    }
    static func delete(_ row: Int64, _ before: String) -> Step {
      Step(kind: .delete, row: row, before: before)
    }

    var batch: ChangeBatch {
      var batch = ChangeBatch()
      let key = Value.string("\(row)")
      var properties: [(PropertyNumber, Value, Value)] = []
      if kind == .insert { properties.append((1, .null, key)) }
      if kind == .delete { properties.append((1, key, .null)) }
      let texts = [before, after].map { $0.map { Value.string($0) } ?? .null }
      properties.append((2, texts[0], texts[1]))
      for (number, before, after) in properties {
        let before = ValueCell(before, appendingTo: &batch.arena)
        let after = ValueCell(after, appendingTo: &batch.arena)
        batch.properties.append(PropertyChange(property: number, before: before, after: after))
      }
      batch.changes.append(
        ChangeEntry(
          kind: kind, entity: 1, row: row, firstProperty: 0,
          propertyCount: batch.properties.count))
      return batch
    }
  }

  /// A closed file: transaction 1 is the schema's, 2 inserts rows 1 and 2, and behind them is a
  /// transaction for each step; behind all, if asked for, a checkpoint of this state.
  private func bytes(
    _ steps: [Step], checkpoint: State? = nil
  ) throws -> ContiguousArray<UInt8> {
    let files = MemoryFileSystem()
    let location = StoreLocation(fileSystem: files, path: SampleFile.path)
    let store = try Store(
      location, schema: MisfitTests.schema, environment: .fixed(seed: 4))
    try store.write { tx in
      for row in 1...2 {
        try tx.insert("Note", ["id": .string("\(row)"), "text": .string("new \(row)")])
      }
    }
    try store.close()
    let log = try LogFile.open(
      at: location.path, in: files,
      LogOptions(
        access: .writing, durability: .full,
        opening: Opening(number: 0, id: 5, processName: "odd", processID: 1)),
      restore: { _ in }, apply: { $0.removeAll() })
    _ = try log.lock(.none)
    var steps = steps[...]
    while let step = steps.popFirst() {
      try log.begin()
      try log.describe(
        TransactionDraft(timestamp: Timestamp(microseconds: 9), author: "ann", context: nil))
      var batch = step.batch
      try log.appendPart(&batch, isLast: steps.first?.isPart != true)
      while let part = steps.first, part.isPart {
        steps.removeFirst()
        batch = part.batch
        try log.appendPart(&batch, isLast: steps.first?.isPart != true)
      }
      _ = try log.commit()
    }
    if let checkpoint {
      var image = checkpoint
      try log.writeCheckpoint(schema: checkpoint.schema) { chunks in
        try image.writeChunks(full: true, source: NoChunks()) {
          try chunks.store($0, first: $1, count: $2)
        }
      }
    }
    try log.close()
    return try files.contents(of: location.path)
  }

  private struct NoChunks: ChunkSource {
    func chunk(_ reference: ChunkReference) throws(ChunkFault) -> ContiguousArray<UInt8> {
      throw ChunkFault(offset: reference.offset, reason: .mismatch)
    }
  }

  /// Where the frame of a transaction begins.
  private func offset(of number: Int64, in bytes: ContiguousArray<UInt8>) throws -> UInt64 {
    let files = MemoryFileSystem()
    try files.put(bytes, at: SampleFile.path)
    var cursor = try ReadableTransactions(files.open(SampleFile.path, for: .reading))
    while let item = try cursor.next() {
      if case .transactions(let offset) = item, cursor.batch.transactions[0].number == number {
        return offset
      }
    }
    throw AnnalsError(.invalidArgument, "no transaction \(number)")
  }

  /// The texts of the notes, by row.
  private func texts(_ store: Store, at number: Int64? = nil) throws -> [Int64: String] {
    let snapshot = try number.map { try store.snapshot(at: $0) } ?? store.snapshot()
    var result: [Int64: String] = [:]
    for note in try snapshot.objects(of: "Note") {
      if case .string(let text) = note["text"] { result[note.id.row] = text }
    }
    return result
  }

  private static let misfits: [[Step]] = [
    [.update(9, "never", "x")], [.delete(9, "never")], [.insert(1)],
    // In the second part of a transaction.
    [
      .insert(3),
      Step(kind: .update, row: 9, before: "never", after: "x", isPart: true),
    ],
  ]

  @Test(arguments: misfits.indices)
  func isNamedWithItsPlace(index: Int) throws {
    let bytes = try bytes(MisfitTests.misfits[index] + [.update(2, "new 2", "two")])
    let place = try offset(of: 3, in: bytes)
    let error = #expect(throws: AnnalsError.self) { try openForReading(bytes) }
    #expect(error?.code == .damaged && error?.offset == place, "\(error as Any)")
    let message = error?.message ?? ""
    #expect(message.contains("transaction 3 does not fit the state before it (Note#"))
    #expect(message.contains("transactions up to 2 can be read"))
    #expect(message.contains("Verify it") && message.contains("salvage everything readable"))
    #expect(try verify(bytes).contains { $0.contains("transaction 3") && $0.contains("\(place)") })
    // As far as before it, if that is asked for.
    let files = MemoryFileSystem()
    try files.put(bytes, at: SampleFile.path)
    var options = StoreOptions.readOnly
    options.readsUpToDamage = true
    let store = try Store(
      StoreLocation(fileSystem: files, path: SampleFile.path), creates: false, options: options)
    #expect(store.token.number == 2)
    #expect(try texts(store) == [1: "new 1", 2: "new 2"])
  }

  @Test(arguments: misfits.indices)
  func isLostAloneInASalvage(index: Int) throws {
    let bytes = try bytes(
      MisfitTests.misfits[index] + [.update(2, "new 2", "two"), .insert(4)])
    let place = try offset(of: 3, in: bytes)
    let (report, store) = try SalvageLab.salvage(bytes)
    #expect(report.lost.map(\.numbers) == [3...3])
    #expect(report.transactions == 4 && report.head == 5)
    #expect(report.lost[0].reason.contains("transaction 3 does not fit the state before it"))
    #expect(report.lost[0].reason.hasSuffix("at offset \(place)"))
    #expect(try texts(store, at: 2) == [1: "new 1", 2: "new 2"])
    #expect(try texts(store) == [1: "new 1", 2: "two", 4: "new 4"])
    #expect(try store.history().collect().map(\.number) == [1, 2, 3, 4, 5])
  }

  @Test func theLastAndTheFirstAreLost() throws {
    let (report, store) = try SalvageLab.salvage(bytes([.update(2, "new 2", "two"), .insert(1)]))
    #expect(report.lost.map(\.numbers) == [4...4])
    #expect(report.head == 4)
    #expect(try texts(store) == [1: "new 1", 2: "two"])
    // Nothing else behind it: what follows makes no sense of its own.
    let (second, twice) = try SalvageLab.salvage(bytes([.insert(1), .insert(1), .insert(5)]))
    #expect(second.head == 5)
    #expect(try texts(twice)[5] == "new 5")
  }

  /// Behind the gap there is one that does not fit what comes before it, and nothing could.
  @Test func whatNoStateFitsIsLostToo() throws {
    let (report, store) = try SalvageLab.salvage(
      bytes([
        .update(9, "never", "x"), .insert(3), .insert(3), .update(3, "new 3", "three"),
        .delete(8, "odd"), .delete(8, "odd"), .insert(6),
      ]))
    // 3 fits nothing before it; 5 and 8 nothing that 4 and 7 leave. 7 fits once 5 is a gap.
    #expect(report.lost.map(\.numbers) == [3...3, 5...5, 8...8])
    #expect(try texts(store) == [1: "new 1", 2: "new 2", 3: "three", 6: "new 6"])
    #expect(report.transactions == 6)
  }

  @Test func manyMisfitsEnd() throws {
    let steps = (0..<150).flatMap { _ in [Step.delete(9, "odd"), .delete(9, "odd")] }
    let (report, store) = try SalvageLab.salvage(bytes(steps + [.insert(5)]))
    #expect(report.head == 303)
    #expect(try texts(store, at: 2) == [1: "new 1", 2: "new 2"])
    #expect(
      report.lost.last?.reason.contains("what follows was given up") == true,
      "\(report.lost.last as Any)")
  }

  /// Before the checkpoint that opening starts from, it is met by whoever comes by it.
  @Test func beforeACheckpoint() throws {
    let steps: [Step] = [.update(9, "never", "x"), .update(2, "new 2", "two"), .insert(4)]
    // What the state is without it.
    let twin = try openForReading(bytes(Array(steps.dropFirst())))
    let bytes = try bytes(steps, checkpoint: twin.version.state)
    let place = try offset(of: 3, in: bytes)
    let store = try openForReading(bytes)
    #expect(try texts(store) == [1: "new 1", 2: "two", 4: "new 4"])
    #expect(try texts(store, at: 2) == [1: "new 1", 2: "new 2"])
    #expect(try texts(store, at: 4) == [1: "new 1", 2: "two"])
    #expect(try store.history().collect().map(\.number) == [1, 2, 3, 4, 5])
    #expect(try store.transaction(3).changes.count == 1)
    let error = #expect(throws: AnnalsError.self) { try store.verifyHistory() }
    #expect(error?.offset == place && error?.message.contains("transaction 3 does") == true)
    let (report, salvaged) = try SalvageLab.salvage(bytes)
    #expect(report.lost.map(\.numbers) == [3...3])
    #expect(try texts(salvaged) == [1: "new 1", 2: "two", 4: "new 4"])
    #expect(report.lost[0].isExact)
  }

  /// Nor does one that speaks of names or openings that nobody recorded end a salvage.
  @Test func namesNeverRecordedAreLost() throws {
    let steps: [Step] = [.update(1, "new 1", "one"), .update(2, "new 2", "two"), .insert(4)]
    let edits: [(String, (inout TransactionRecord) -> Void)] = [
      ("author", { $0.author = 99 }), ("context", { $0.context = 99 }),
      ("opening", { $0.opening = 99 }),
      ("names", { ($0.firstNewName, $0.newNames) = (7, ["seven"]) }),
    ]
    for (name, edit) in edits {
      let (report, store) = try SalvageLab.salvage(edited(bytes(steps), 4, edit), "\(name)")
      #expect(report.lost.map(\.numbers) == [4...4], "\(name)")
      #expect(report.lost[0].reason.contains("transaction 4 does not fit"), "\(name)")
      // What comes next says nothing of it: row 2 may be stale.
      #expect(try texts(store) == [1: "one", 2: "new 2", 4: "new 4"], "\(name)")
    }
  }

  /// The bytes with the root slots of a file's beginning, the record of a transaction changed and
  /// all checksums right.
  private func edited(
    _ bytes: ContiguousArray<UInt8>, _ number: Int64, _ edit: (inout TransactionRecord) -> Void
  ) throws -> ContiguousArray<UInt8> {
    let files = MemoryFileSystem()
    try files.put(bytes, at: SampleFile.path)
    let file = try files.open(SampleFile.path, for: .reading)
    var walk = try FileWalk(file)
    let source = try #require(try FrameSource(file))
    var header = try bytes.withUnsafeBytes { try FileHeader.decode($0) }
    var writer = FrameWriter(
      seed: header.seed, offset: FormatLimits.logStart, previousChecksum: header.checksum,
      durableMark: FormatLimits.logStart)
    var result = header.encode(
      with: RootSlot(
        sequence: 1, durableMark: FormatLimits.logStart, head: header.base,
        markChecksum: header.checksum))
    while let region = try walk.next() {
      guard region.frame != nil, var (header, payload) = try source.frame(at: region.offset) else {
        continue
      }
      if var batch = try source.transactions(at: region.offset),
        batch.transactions[0].number == number
      {
        edit(&batch.transactions[0])
        payload.removeAll()
        TransactionCodec.encode(batch, transaction: 0, into: &payload)
        header.kind = .transaction
      }
      payload.withUnsafeBytes {
        _ = writer.append(kind: header.kind, flags: header.flags, payload: $0)
      }
      result += writer.bytes
      writer.removeAll()
    }
    return result
  }

  @Test func theCommandTellsOfIt() throws {
    let path = NSTemporaryDirectory() + "annals-misfit-\(UUID().uuidString)"
    try Data(bytes([.delete(9, "never"), .insert(4)])).write(to: URL(fileURLWithPath: path))
    defer { for end in ["", ".out"] { try? FileManager.default.removeItem(atPath: path + end) } }
    let place = try offset(of: 3, in: ContiguousArray(Data(contentsOf: URL(filePath: path))))
    for command in ["state", "log"] {
      let run = runCommand(command, path)
      #expect(run.status == .couldNotRun, "\(run)")
      #expect(run.errors.contains("transaction 3 does not fit"), "\(run)")
      #expect(run.errors.contains("(offset \(place))"), "\(run)")
    }
    let verified = runCommand("verify", path)
    #expect(verified.status == .foundProblems, "\(verified)")
    #expect(verified.output.contains("error: ") && verified.output.contains("(offset \(place))"))
    let salvaged = runCommand("salvage", path, path + ".out")
    #expect(salvaged.status == .foundProblems, "\(salvaged)")
    #expect(runCommand("verify", path + ".out").status == .done)
    #expect(runCommand("get", path + ".out", "Note/4").status == .done)
  }
}
