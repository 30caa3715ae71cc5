import AnnalsModel
import AnnalsTestSupport
import Testing

@testable import AnnalsFormat

/// Whatever is written in either form reads back the same.
struct RecordRoundTripTests {
  @Test(arguments: UInt64(1)...24)
  func rows(seed: UInt64) throws {
    var maker = RandomBatch(seed: seed)
    maker.isRegular = seed % 2 == 0
    let batch = maker.make(transactions: 8)
    var decoded = ChangeBatch()
    for index in batch.transactions.indices {
      try batch.row(index).withUnsafeBytes { try TransactionCodec.decode($0, into: &decoded) }
    }
    #expect(decoded.description == batch.description, "seed \(seed)")
  }

  @Test(arguments: UInt64(1)...24)
  func columns(seed: UInt64) throws {
    var maker = RandomBatch(seed: seed)
    maker.isRegular = seed % 2 == 0
    let batch = maker.make(
      transactions: 1 + Int(seed) * 3, first: 5, changes: seed % 3 == 0 ? 12 : 3)
    let bytes = batch.block()
    var decoded = ChangeBatch()
    try bytes.withUnsafeBytes { try BlockCodec.decode($0, into: &decoded) }
    #expect(decoded.description == batch.description, "seed \(seed)")
    let summary = try bytes.withUnsafeBytes { try BlockCodec.decodeSummary($0) }
    #expect(summary == BlockCodec.summary(of: decoded))
    // Appending to a batch that holds something leaves that as it is.
    try bytes.withUnsafeBytes { try BlockCodec.decode($0, into: &decoded) }
    #expect(decoded.description == batch.description + batch.description)
  }

  /// Long texts that come again and again are listed, and their cells say where.
  @Test
  func sharedTexts() throws {
    let texts = ["a text of some length", "another one, as long as that", "short"]
    var batch = ChangeBatch()
    for row in 0..<120 {
      batch.append(.insert, 1, Int64(row + 1), [(1, .null, .string(texts[row % 3]))])
    }
    batch.append(TransactionRecord(number: 1, timestamp: Timestamp(microseconds: 0)))
    let bytes = batch.block()
    var decoded = ChangeBatch()
    for round in 0..<2 {
      try bytes.withUnsafeBytes { try BlockCodec.decode($0, into: &decoded) }
      #expect(decoded.sharedTexts.count == 2 * (round + 1))
    }
    for (index, property) in decoded.properties.enumerated() {
      let number = Int(property.after.shared)
      #expect((number == 0) == (index % 120 % 3 == 2))
      guard number > 0 else { continue }
      let shared = decoded.sharedTexts[number - 1]
      #expect((shared.bits, shared.length) == (property.after.bits, property.after.length))
    }
  }

  @Test
  func parts() throws {
    var maker = RandomBatch(seed: 7)
    var batch = maker.make(transactions: 1, first: 900, changes: 50)
    batch.transactions[0].part = 3
    batch.transactions[0].isContinued = true
    batch.transactions[0].removeDetails()
    let bytes = batch.block()
    var decoded = ChangeBatch()
    try bytes.withUnsafeBytes {
      try BlockCodec.decode($0, isContinued: true, into: &decoded)
    }
    #expect(decoded.description == batch.description)
    let summary = try bytes.withUnsafeBytes { try BlockCodec.decodeSummary($0) }
    #expect(summary.isPart)
    #expect(summary.part == 3)
    #expect((summary.firstNumber, summary.lastNumber) == (900, 900))
  }

  @Test
  func emptyTransactions() throws {
    var batch = ChangeBatch()
    for number in 1...3 {
      batch.transactions.append(
        TransactionRecord(number: Int64(number), timestamp: Timestamp(microseconds: .min)))
    }
    let bytes = batch.block()
    var decoded = ChangeBatch()
    try bytes.withUnsafeBytes { try BlockCodec.decode($0, into: &decoded) }
    #expect(decoded.description == batch.description)
  }
}

extension TransactionRecord {
  /// Leaves what every part of a transaction repeats.
  mutating func removeDetails() {
    newNames = []
    firstNewName = 0
    newOpening = nil
    metadata = []
    schemaChange = []
    extensions = []
  }
}

struct RowLengthTests {
  @Test(arguments: UInt64(1)...12)
  func isNearTheTruth(seed: UInt64) {
    var maker = RandomBatch(seed: seed)
    var batch = maker.make(transactions: 1, changes: 400)
    batch.transactions[0].removeDetails()
    let bytes = batch.row()
    let guess = batch.changes.indices.reduce(0) { $0 + batch.rowLength(ofChange: $1) }
    #expect(guess >= bytes.count - 40)
    #expect(guess <= bytes.count * 3 / 2 + 40)
  }
}
