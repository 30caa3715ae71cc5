import AnnalsDescription
import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

@Suite struct VerificationTests {
  @Test func soundFilesHaveNoFindings() throws {
    let files = [
      SampleStore.small(1), SampleStore.small(5), SampleStore.complete(),
      SampleStore.complete(allocated: 0), SampleStore.complete(isClosed: false), HandMadeFile(),
      SampleStore.plain(),
    ]
    for file in files { #expect(try findings(in: file.bytes) == []) }
  }

  /// Every single bit of a small closed file: all are read, or must be zero.
  @Test func everyFlipIsFound() throws {
    var file = SampleStore.small(2)
    file.allocated = 16
    file.close(head: 2)
    let bytes = file.bytes
    for index in 0..<bytes.count {
      // Blocks at the front are under one checksum each: a sample of their zeros will do.
      let inBlock = index % FormatLimits.blockLength
      let isDense = index >= Int(FormatLimits.logStart) || inBlock < 64
      for bit in 0..<8 where isDense || (index % 29 == 0 || inBlock > 4091) && bit == index % 8 {
        let found = try findings(in: bytes.flipping(bit: bit, ofByte: index))
        #expect(!found.isEmpty, "bit \(bit) of byte \(index)")
      }
    }
  }

  /// One bit of every byte of a file with one of each thing.
  @Test func everyDamagedByteIsFound() throws {
    let bytes = SampleStore.complete(allocated: 40).bytes
    for index in Int(FormatLimits.logStart)..<bytes.count {
      let found = try findings(in: bytes.flipping(bit: index % 8, ofByte: index))
      #expect(!found.isEmpty, "byte \(index)")
    }
  }

  @Test func everyTruncationIsFound() throws {
    let file = SampleStore.complete(allocated: 40)
    let bytes = file.bytes
    for count in 0..<bytes.count
    where count >= Int(FormatLimits.logStart) || count % 211 == 0 || count % 4096 < 2 {
      let found = try findings(in: ContiguousArray(bytes.prefix(count)))
      // Space allocated ahead may go: the file was closed, and holds as much without it.
      let isHarmless = count >= bytes.count - 40
      #expect(isHarmless || found.contains { $0.severity == .error }, "\(count) bytes")
    }
  }

  /// Without a slot behind it the last group has no witness: what is wrong there is a torn tail.
  @Test func damageInTheLastGroupIsATornTail() throws {
    let file = SampleStore.small(4)
    let frames = try regions(in: file.bytes).filter { $0.frame != nil }
    for index in Int(frames[3].offset)..<Int(frames[3].end) {
      let found = try findings(in: file.bytes.flipping(bit: 1, ofByte: index))
      #expect(found.count == 1)
      let isPadding = found.first?.subject == .padding
      #expect(isPadding || found.first?.subject == .tornTail, "byte \(index): \(found)")
      #expect(found.first?.severity == .warning)
    }
    for count in Int(frames[3].offset) + 1..<Int(frames[3].end) {
      let bytes = ContiguousArray(file.bytes.prefix(count))
      let report = try report(on: bytes)
      #expect(report.end.end == frames[3].offset)
      #expect(report.end.tail == .torn(byteCount: UInt64(count) - frames[3].offset))
      #expect(report.isSound && !report.isClean)
      #expect(try statistics(of: bytes).transactions == 3)
    }
  }

  @Test func damageBeforeAProvenMarkIsInside() throws {
    let file = SampleStore.small(4)
    let frames = try regions(in: file.bytes).filter { $0.frame != nil }
    // Frame 4 says that the log was synced up to itself.
    for index in Int(frames[1].offset)..<Int(frames[1].offset) + 24 {
      let found = try findings(in: file.bytes.flipping(bit: 6, ofByte: index))
      #expect(found.contains { $0.subject == .damageInside && $0.severity == .error })
    }
    let payload = file.bytes.flipping(bit: 6, ofByte: Int(frames[1].offset) + 26)
    let found = try findings(in: payload)
    #expect(found.contains { $0.subject == .frame && $0.severity == .error })
  }

  @Test func unfinishedUnitsAreTorn() throws {
    var file = SampleStore.small(2)
    let end = file.offset
    var batch = ChangeBatch()
    var record = SampleStore.record(3)
    record.isContinued = true
    SampleStore.add(record, [SampleStore.insert(2, title: "Half")], to: &batch)
    file.append(.block, flags: .continued, batch.block())
    let report = try report(on: file.bytes)
    #expect(report.end.end == end)
    #expect(report.end.tail == .torn(byteCount: file.offset - end))
    #expect(try statistics(of: file.bytes).transactions == 2)
    #expect(report.transactions == 2)
  }

  @Test func aFileCutWithinItsExtentIsDamaged() throws {
    var file = SampleStore.small(2)
    file.allocated = 4096
    file.writeSlot(head: 2)
    file.append(SampleStore.record(3), [SampleStore.update(1, from: "Title 2", to: "X")])
    let cut = ContiguousArray(file.bytes.prefix(Int(file.offset) - 8))
    #expect(try findings(in: cut).contains { $0.subject == .damageInside })
  }

  @Test func headersAreJudgedInOrder() throws {
    let sound = SampleStore.small(1).bytes
    func subject(_ bytes: ContiguousArray<UInt8>) throws -> String {
      try findings(in: bytes).first { $0.subject == .header }?.what ?? ""
    }
    #expect(try subject([]).contains("shorter"))
    #expect(try subject(ContiguousArray(sound.prefix(100))).contains("shorter"))
    let foreign = ContiguousArray("Not an Annals file at all".utf8)
    #expect(try subject(foreign).contains("not an Annals"))
    #expect(try subject(sound.flipping(bit: 5, ofByte: 8)).contains("newer"))
    #expect(try subject(sound.flipping(bit: 0, ofByte: 40)).contains("checksum"))
  }
}

@Suite struct RuleTests {
  /// A file with one transaction that breaks a rule, and what is said of it.
  private func expect(
    _ subject: Finding.Subject, _ words: String, as severity: Finding.Severity = .error,
    sourceLocation: SourceLocation = #_sourceLocation, _ build: (inout HandMadeFile) -> Void
  ) throws {
    var file = SampleStore.small(2)
    file.sync()
    build(&file)
    let found = try findings(in: file.bytes)
    #expect(
      found.contains {
        $0.subject == subject && $0.severity == severity && $0.what.contains(words)
      },
      "\(found)", sourceLocation: sourceLocation)
  }

  /// What is said of a transaction 3 with these changes, whose record was edited.
  private func expectRecord(
    _ subject: Finding.Subject, _ words: String, as severity: Finding.Severity = .error,
    _ changes: SampleStore.Change..., sourceLocation: SourceLocation = #_sourceLocation,
    edit: (inout TransactionRecord) -> Void = { _ in }
  ) throws {
    var record = SampleStore.record(3)
    edit(&record)
    try expect(subject, words, as: severity, sourceLocation: sourceLocation) {
      $0.append(record, changes)
    }
  }

  @Test func numbersRiseByOne() throws {
    try expect(.number, "transaction 3 is missing") { $0.append(SampleStore.record(4)) }
    try expect(.number, "a second time") { $0.append(SampleStore.record(2)) }
  }

  @Test func timestampsThatGoBackAreNoted() throws {
    try expectRecord(.timestamp, "before the one in front", as: .note) {
      $0.timestamp = Timestamp(microseconds: 0)
    }
  }

  @Test func namesAndOpeningsFollowOneAnother() throws {
    try expectRecord(.name, "adds names from number 7") {
      ($0.newNames, $0.firstNewName) = (["late"], 7)
    }
    try expectRecord(.name, "has name 9") { $0.author = 9 }
    try expectRecord(.opening, "is of opening 5") { $0.opening = 5 }
    try expectRecord(.opening, "adds opening 3") {
      $0.newOpening = Opening(number: 3, id: 1, processName: "p", processID: 1)
    }
  }

  @Test func changesAreOfWhatTheSchemaHas() throws {
    try expectRecord(.record, "changes entity 9", (.insert, 9, 1, []))
    try expectRecord(
      .record, "which the schema does not have", (.insert, 1, 2, [(30, .null, .int(1))]))
    try expectRecord(.record, "another kind", (.insert, 1, 2, [(2, .null, .int(1))]))
    try expectRecord(
      .record, "changes Post#2 twice", SampleStore.insert(2, title: "a"), (.update, 1, 1, []),
      SampleStore.update(2, from: "a", to: "b"))
    var post = SampleStore.schema[0]
    var note = Attribute("note", .any)
    note.number = 5
    post.attributes.append(note)
    post.nextPropertyNumber = 6
    let reference = Value.object(ObjectReference(entity: 1, row: 1))
    try expectRecord(
      .record, "gives note of Post#2 a value of another kind",
      (.insert, 1, 2, [(5, .null, reference)])
    ) { $0.schemaChange = [EntityChange(post)] }
    post = SampleStore.schema[0]
    post.attributes.removeLast()
    try expectRecord(.schema, "given out are gone") { $0.schemaChange = [EntityChange(post)] }
  }

  @Test func largeValuesAreThere() throws {
    let large = LargeValue(tag: .data, number: 4, length: 10, checksum: 1)
    try expectRecord(
      .largeValue, "large value 4, which is not there",
      (.update, 1, 1, [(3, .null, .large(large))]))
    try expect(.largeValue, "breaks off after 2 of 10") { file in
      file.append(.largeValue, flags: .continued, largeValuePiece(4, [1, 2], total: 10))
      file.append(SampleStore.record(3))
    }
  }

  @Test func partsAreComplete() throws {
    func part(_ edit: (inout TransactionRecord) -> Void) -> ContiguousArray<UInt8> {
      var batch = ChangeBatch()
      var record = SampleStore.record(3)
      edit(&record)
      SampleStore.add(record, [SampleStore.insert(2, title: "Half")], to: &batch)
      return batch.block()
    }
    try expect(.part, "lacks its last part") { file in
      file.append(.block, flags: .continued, part { $0.isContinued = true })
      file.append(SampleStore.record(4))
    }
    try expect(.part, "part 2 of transaction 3 without those before it") { file in
      file.append(.block, part { $0.part = 2 })
    }
  }

  /// What header and directory say twice of the base is the same.
  @Test func theBaseIsOfOneMind() throws {
    for (timestamp, changes) in [(Int64(7), Int64(0)), (8, 0), (7, 1)] {
      var file = HandMadeFile(base: 2) {
        $0.baseTimestamp = Timestamp(microseconds: 7)
        $0.baseCheckpointOffset = FormatLimits.logStart
      }
      file.append(
        .checkpoint,
        directory {
          $0.isBase = true
          $0.maximumTimestamp = Timestamp(microseconds: timestamp)
          $0.changeCount = changes
        })
      let found = try findings(in: file.bytes).map(\.description)
      let told = found.filter { $0.contains("as the greatest timestamp, and the header") }
      #expect(told.count == (timestamp == 7 ? 0 : 1), "\(found)")
      let counted = found.filter { $0.contains("counts 1 changes, though it is the base") }
      #expect(counted.count == Int(changes), "\(found)")
    }
  }

  @Test func theOpeningOfACheckpointIsTheTransactions() throws {
    try expectDirectory(.checkpoint, "is of another opening than the transaction") {
      $0.openingID = 99
    }
  }

  /// What is said of a checkpoint of transaction 2 with this directory.
  private func expectDirectory(
    _ subject: Finding.Subject, _ words: String, as severity: Finding.Severity = .warning,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ edit: (inout CheckpointDirectory) -> Void
  ) throws {
    try expect(subject, words, as: severity, sourceLocation: sourceLocation) {
      $0.append(.checkpoint, directory(edit))
    }
  }

  /// The payload of a checkpoint of transaction 2.
  private func directory(_ edit: (inout CheckpointDirectory) -> Void) -> ContiguousArray<UInt8> {
    var directory = SampleStore.directory(2, changes: 2)
    directory.schemaHistory.entries = [SchemaHistoryEntry(number: 1, schema: SampleStore.schema)]
    edit(&directory)
    return directory.encode()
  }

  /// The greatest timestamp is that of the transactions, however early.
  @Test func timestampsMayBeBefore1970() throws {
    var file = HandMadeFile()
    var record = SampleStore.firstRecord()
    record.timestamp = Timestamp(microseconds: -5_000_000)
    file.append(record, [SampleStore.insert(1, title: "Fog")])
    record = SampleStore.record(2)
    record.timestamp = Timestamp(microseconds: -4_000_000)
    file.append(record, [SampleStore.update(1, from: "Fog", to: "Dew")])
    file.append(
      .checkpoint,
      directory {
        $0.timestamp = record.timestamp
        $0.maximumTimestamp = record.timestamp
      })
    #expect(try findings(in: file.bytes) == [])
  }

  /// The history index names where units begin: maybe at the frame of a large value.
  @Test func theHistoryIndexMayNameALargeValue() throws {
    func file(_ number: Int64, at part: Int) -> HandMadeFile {
      var file = SampleStore.small(2)
      file.sync()
      var places: [UInt64] = []
      for (part, flags) in [(UInt64(0), FrameFlags.continued), (2, [])] {
        let piece = largeValuePiece(1, [1, 2], total: 4, start: part)
        places.append(file.append(.largeValue, flags: flags, piece))
      }
      places.append(file.append(SampleStore.record(3)))
      file.append(
        .checkpoint,
        directory {
          $0.number = 3
          $0.timestamp = SampleStore.record(3).timestamp
          $0.maximumTimestamp = $0.timestamp
          $0.largeValues.entries = [LargeValueEntry(number: 1, offset: places[0], length: 4)]
          $0.nextLargeValueNumber = 2
          $0.historyIndex.entries = [
            HistoryIndexEntry(
              firstNumber: number, offset: places[part],
              maximumTimestamp: Timestamp(microseconds: 0), entities: [])
          ]
        })
      return file
    }
    let sound = try findings(in: file(3, at: 0).bytes)
    #expect(!sound.contains { $0.subject == .index }, "\(sound)")
    let wrong = try findings(in: file(2, at: 0).bytes)
    #expect(wrong.contains { $0.subject == .index && $0.what.contains("where 3 is") }, "\(wrong)")
  }

  @Test func checkpointsNameWhatIsThere() throws {
    var sound = SampleStore.small(2)
    sound.append(.checkpoint, directory { _ in })
    #expect(try findings(in: sound.bytes) == [])
    try expectDirectory(.checkpoint, "count of names") { $0.names.entries = ["Safari"] }
    try expectDirectory(.checkpoint, "another schema") { $0.schema = Schema() }
    try expectDirectory(.chunk, "there is no whole chunk") {
      $0.names.chunks = [
        ChunkReference(offset: 12_288, length: 5, checksum: 5, first: 0, count: 2)
      ]
      $0.names.entries = []
    }
    try expectDirectory(.largeValue, "lists large value 3", as: .error) {
      $0.largeValues.entries = [LargeValueEntry(number: 3, offset: 12_288, length: 1)]
      $0.nextLargeValueNumber = 4
    }
    for (offset, words) in [
      (12_288, "where 1 is"), (FormatLimits.maximumNumber, "where no transaction begins"),
    ] {
      try expectDirectory(.index, words) {
        $0.historyIndex.entries = [
          HistoryIndexEntry(
            firstNumber: 2, offset: offset, maximumTimestamp: Timestamp(microseconds: 0),
            entities: [])
        ]
      }
    }
  }

  @Test func slotsNameWhatIsThere() throws {
    var file = SampleStore.small(3)
    file.writeSlot(head: 2)
    #expect(try findings(in: file.bytes).contains { $0.what.contains("transaction 2 is the last") })
    file = SampleStore.small(3)
    file.writeSlot(head: 3)
    file.slots[0].markChecksum ^= 1
    #expect(try findings(in: file.bytes).contains { $0.what.contains("has the checksum") })
    file = SampleStore.small(3)
    file.writeSlot(head: 3, checkpoint: (12_288, 1))
    #expect(try findings(in: file.bytes).contains { $0.what.contains("names a checkpoint") })
    file = SampleStore.small(3)
    file.slots = [
      RootSlot(sequence: 3, durableMark: 12_296, head: 0, markChecksum: file.header.checksum)
    ]
    #expect(try findings(in: file.bytes).contains { $0.what.contains("where no frame begins") })
    file = HandMadeFile(base: 4) { $0.baseCheckpointOffset = 12_288 }
    #expect(try findings(in: file.bytes).contains { $0.what.contains("the state at the base") })
  }

  @Test func foreignKinds() throws {
    try expect(.frame, "which this version skips", as: .note) {
      $0.append(FrameKind(rawValue: 77), flags: .skippable, [1, 2, 3])
    }
    try expect(.frame, "cannot read", as: .error) { $0.append(FrameKind(rawValue: 77), [1, 2, 3]) }
    try expect(.frame, "a flag of a frame", as: .error) {
      $0.append(.transaction, flags: .compressed, SampleStore.row(SampleStore.record(3)))
    }
  }
}
