import Annals
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsSalvage
import AnnalsState
import AnnalsTestSupport
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
      let key = Value.string("\(row)")
      var values: [PropertyValues] = []
      if kind == .insert { values.append((1, .null, key)) }
      if kind == .delete { values.append((1, key, .null)) }
      let texts = [before, after].map { $0.map { Value.string($0) } ?? .null }
      values.append((2, texts[0], texts[1]))
      return ChangeBatch(kind, 1, row, values)
    }
  }

  /// A closed file: transaction 1 is the schema's, 2 inserts rows 1 and 2, and behind them is a
  /// transaction for each step; behind all, if asked for, a checkpoint of this state.
  private func bytes(
    _ steps: [Step], checkpoint: State? = nil
  ) throws -> ContiguousArray<UInt8> {
    let location = try sampleFile()
    let store = try Store(
      location, schema: MisfitTests.schema, environment: .fixed(seed: 4))
    try store.write { tx in
      for row in 1...2 {
        try tx.insert("Note", ["id": .string("\(row)"), "text": .string("new \(row)")])
      }
    }
    try store.close()
    try LogFile.write(to: location.path, in: location.fileSystem) { log in
      var steps = steps[...]
      while let step = steps.popFirst() {
        try log.begin()
        try log.describe(
          TransactionEnvelope(timestamp: Timestamp(microseconds: 9), author: "ann", context: nil))
        var batch = step.batch
        try log.appendPart(&batch, isLast: steps.first?.isPart != true)
        while let part = steps.first, part.isPart {
          steps.removeFirst()
          batch = part.batch
          try log.appendPart(&batch, isLast: steps.first?.isPart != true)
        }
        _ = try log.commit()
      }
      guard var image = checkpoint else { return }
      try log.writeCheckpoint(schema: image.schema) { chunks in
        try image.writeChunks(full: true, source: CraftedStore.NoChunks()) {
          try chunks($0, $1, $2)
        }
      }
    }
    return try location.contents()
  }

  /// Where the frame of a transaction begins, or of a part of it.
  private func offset(
    of number: Int64, part: UInt32 = 0, in bytes: ContiguousArray<UInt8>
  ) throws -> UInt64 {
    var cursor = try ReadableTransactions(sampleFile(bytes).opened())
    while let item = try cursor.next() {
      if case .transactions(let offset) = item, let first = cursor.batch.transactions.first,
        first.number == number, first.part == part
      {
        return offset
      }
    }
    throw AnnalsError(.invalidArgument, "no transaction \(number)")
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
    let steps = MisfitTests.misfits[index]
    let bytes = try bytes(steps + [.update(2, "new 2", "two")])
    // The frame of the part that does not fit, not the transaction's first.
    let place = try offset(of: 3, part: UInt32(steps.count - 1), in: bytes)
    let error = #expect(throws: AnnalsError.self) { try openForReading(bytes) }
    #expect(error?.code == .damaged && error?.offset == place, "\(error as Any)")
    let message = error?.message ?? ""
    #expect(message.contains("transaction 3 does not fit the state before it (Note#"))
    #expect(message.contains("transactions up to 2 can be read"))
    #expect(message.contains("Verify it") && message.contains("salvage everything readable"))
    #expect(try verify(bytes).contains { $0.contains("transaction 3") && $0.contains("\(place)") })
    // As far as before it, if that is asked for.
    var options = StoreOptions.readOnly
    options.readsUpToDamage = true
    let store = try sampleFile(bytes).store(options)
    #expect(store.token.number == 2)
    #expect(try store.texts() == [1: "new 1", 2: "new 2"])
  }

  /// It is the last transaction, and no slot says where the log ends.
  @Test(arguments: misfits.indices)
  func isToldAtTheEndWithoutSlots(index: Int) throws {
    var bytes = try bytes(MisfitTests.misfits[index])
    let slots = Int(FormatLimits.slotOffsets[0])..<Int(FormatLimits.logStart)
    bytes.replaceSubrange(slots, with: repeatElement(0xFF, count: slots.count))
    let place = try offset(of: 3, in: bytes)
    let error = #expect(throws: AnnalsError.self) { try openForReading(bytes) }
    #expect(error?.code == .damaged, "\(error as Any)")
    var options = StoreOptions.readOnly
    options.readsUpToDamage = true
    let store = try sampleFile(bytes).store(options)
    #expect(store.token.number == 2)
    #expect(try store.texts() == [1: "new 1", 2: "new 2"])
    #expect(try verify(bytes).contains { $0.contains("root slot 0") })
    let (report, salvaged) = try SalvageLab.salvage(bytes)
    #expect(report.lost.map(\.numbers) == [3...3] && report.head == 3)
    let reason = report.lost[0].reason
    #expect(
      reason.contains("transaction 3 does not fit") && reason.contains("\(place)"), "\(reason)")
    #expect(try salvaged.texts() == [1: "new 1", 2: "new 2"])
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
    #expect(try store.texts(at: 2) == [1: "new 1", 2: "new 2"])
    #expect(try store.texts() == [1: "new 1", 2: "two", 4: "new 4"])
    #expect(try store.history().collect().map(\.number) == [1, 2, 3, 4, 5])
  }

  @Test func theLastAndTheFirstAreLost() throws {
    let (report, store) = try SalvageLab.salvage(bytes([.update(2, "new 2", "two"), .insert(1)]))
    #expect(report.lost.map(\.numbers) == [4...4])
    #expect(report.head == 4)
    #expect(try store.texts() == [1: "new 1", 2: "two"])
    // Nothing else behind it: what follows makes no sense of its own.
    let (second, twice) = try SalvageLab.salvage(bytes([.insert(1), .insert(1), .insert(5)]))
    #expect(second.head == 5)
    #expect(try twice.texts()[5] == "new 5")
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
    #expect(try store.texts() == [1: "new 1", 2: "new 2", 3: "three", 6: "new 6"])
    #expect(report.transactions == 6)
  }

  @Test func manyMisfitsEnd() throws {
    let steps = (0..<150).flatMap { _ in [Step.delete(9, "odd"), .delete(9, "odd")] }
    let (report, store) = try SalvageLab.salvage(bytes(steps + [.insert(5)]))
    #expect(report.head == 303)
    #expect(try store.texts(at: 2) == [1: "new 1", 2: "new 2"])
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
    #expect(try store.texts() == [1: "new 1", 2: "two", 4: "new 4"])
    #expect(try store.texts(at: 2) == [1: "new 1", 2: "new 2"])
    #expect(try store.texts(at: 4) == [1: "new 1", 2: "two"])
    #expect(try store.history().collect().map(\.number) == [1, 2, 3, 4, 5])
    #expect(try store.transaction(3).changes.count == 1)
    let error = #expect(throws: AnnalsError.self) { try store.verifyHistory() }
    #expect(error?.offset == place && error?.message.contains("transaction 3 does") == true)
    let (report, salvaged) = try SalvageLab.salvage(bytes)
    #expect(report.lost.map(\.numbers) == [3...3])
    #expect(try salvaged.texts() == [1: "new 1", 2: "two", 4: "new 4"])
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
      #expect(try store.texts() == [1: "one", 2: "new 2", 4: "new 4"], "\(name)")
    }
  }

  /// The bytes with the root slots of a file's beginning, the record of a transaction changed and
  /// all checksums right.
  private func edited(
    _ bytes: ContiguousArray<UInt8>, _ number: Int64, _ edit: (inout TransactionRecord) -> Void
  ) throws -> ContiguousArray<UInt8> {
    let file = try sampleFile(bytes).opened()
    var walk = try FileWalk(file)
    let source = try #require(try FrameSource(file))
    var header = try bytes.fileHeader()
    var writer = FrameWriter(behind: header)
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
        payload = batch.row()
        header.kind = .transaction
      }
      writer.append(header.kind, flags: header.flags, payload)
      result += writer.bytes
      writer.removeAll()
    }
    return result
  }

  @Test func theCommandTellsOfIt() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.annals")
    let bytes = try bytes([.delete(9, "never"), .insert(4)])
    try Data(bytes).write(to: folder.url("a.annals"))
    let place = try offset(of: 3, in: bytes)
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
