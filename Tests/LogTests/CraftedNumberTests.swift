import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import AnnalsLog

/// Frames with right checksums and numbers that no writer of this version gives.
@Suite struct CraftedNumberTests {
  /// A closed log in which these frames follow the root slots.
  private func log(_ append: (inout FrameWriter) -> Void) throws -> MemoryFileSystem {
    let files = MemoryFileSystem()
    try LogLab(files).log.close()
    let header = try files.contents(of: LogLab.path).withUnsafeBytes { try FileHeader.decode($0) }
    var writer = FrameWriter(
      seed: header.seed, offset: FormatLimits.logStart, previousChecksum: header.checksum,
      durableMark: FormatLimits.logStart)
    append(&writer)
    try files.overwrite(writer.bytes, at: Int(FormatLimits.logStart), of: LogLab.path)
    return files
  }

  private func row(_ record: TransactionRecord, _ batch: ChangeBatch) -> ContiguousArray<UInt8> {
    var batch = batch
    var record = record
    record.changeCount = UInt32(batch.changes.count)
    batch.transactions = [record]
    var payload: ContiguousArray<UInt8> = []
    TransactionCodec.encode(batch, transaction: 0, into: &payload)
    return payload
  }

  /// A gap record is of no opening; one that is of an opening which it adds is read like another.
  @Test func aGapOfTheOpeningThatItAdds() throws {
    let epoch = Timestamp(microseconds: 0)
    var record = TransactionRecord(number: 1, timestamp: epoch)
    var lost = LostTransactions(first: 1, last: 1, after: epoch, salvaged: epoch)
    lost.openings = (1...2).map {
      Opening(number: $0, id: UInt64($0) * 11, processName: "", processID: 0)
    }
    record.lost = lost
    for (opening, id) in [(OpeningNumber(0), UInt64(0)), (1, 11), (2, 22)] {
      record.opening = opening
      let files = try log { writer in
        row(record, ChangeBatch()).withUnsafeBytes {
          _ = writer.append(kind: .transaction, payload: $0)
        }
      }
      let lab = try LogLab(files, creates: false)
      #expect(lab.log.view.head.number == 1)
      #expect(lab.log.view.head.openingID == id)
      try lab.commit([(1, "one")])
      try lab.log.close()
      #expect(try LogLab(files, creates: false).log.view.head.number == 2)
    }
    record.opening = 3
    let files = try log { writer in
      row(record, ChangeBatch()).withUnsafeBytes {
        _ = writer.append(kind: .transaction, payload: $0)
      }
    }
    #expect(throws: LogError.self) { try LogLab(files, creates: false) }
  }

  /// A piece with a number or a length beyond the limits is no large value: it is in no table, so
  /// that the next checkpoint can be read.
  @Test(arguments: [[UInt64.max, 1], [1 << 62, 1], [1, 1 << 62], [0, 1]])
  func aLargeValueBeyondTheLimits(head: [UInt64]) throws {
    let batch = LogLab.batch([(1, "one")], old: Titles())
    let files = try log { writer in
      var piece: ContiguousArray<UInt8> = []
      for number in head + [0] { piece.append(varInt: number) }
      piece += [0, 7]
      piece.withUnsafeBytes { _ = writer.append(kind: .largeValue, payload: $0) }
      let record = TransactionRecord(number: 1, timestamp: Timestamp(microseconds: 5))
      row(record, batch).withUnsafeBytes { _ = writer.append(kind: .transaction, payload: $0) }
    }
    let lab = try LogLab(files, creates: false)
    #expect(lab.state.titles == [1: "one"])
    try lab.checkpoint()
    try lab.log.close()
    let again = try LogLab(files, creates: false)
    #expect(again.log.report.findings == [])
    #expect(again.log.report.start == 1)
    #expect(again.log.view.tables.nextLargeValueNumber == 1)
  }
}
