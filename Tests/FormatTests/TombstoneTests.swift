import AnnalsModel
import AnnalsTestSupport
import Testing

@testable import AnnalsFormat

/// Tombstones in frames and directories: what is written is read again, and nothing else is.
struct TombstoneTests {
  typealias Bytes = ContiguousArray<UInt8>

  /// Two deletes of transaction 3, one of 3 again, one of 5.
  private static func sample() -> Bytes {
    var payload: Bytes = []
    for (number, rows) in [(3, [2, 7]), (3, [9]), (5, [1])] as [(Int64, [Int64])] {
      var record = TransactionRecord(number: number, timestamp: Timestamp(microseconds: -5))
      record.author = 1
      var batch = ChangeBatch()
      for row in rows { batch.append(.delete, 2, row, [(4, .string("n\(row)"), .null)]) }
      batch.append(record)
      TombstoneCodec.append(batch, transaction: 0, to: &payload)
    }
    return payload
  }

  private func decode(_ bytes: Bytes, _ flags: FrameFlags = .skippable) -> ChangeBatch? {
    var batch = ChangeBatch()
    let isRead = bytes.withUnsafeBytes {
      (try? TombstoneCodec.decode($0, flags: flags, into: &batch)) != nil
    }
    return isRead ? batch : nil
  }

  private func text(_ batch: ChangeBatch) -> String {
    batch.arena.withUnsafeBytes { arena in
      batch.transactions.map { record in
        "\(record.number):"
          + batch.changes[record.changeRange].map { change in
            "\(change.entity)#\(change.row)"
              + batch.properties[change.propertyRange].map { property in
                if case .string(let text) = property.before.value(in: arena) { return " \(text)" }
                return " ?"
              }
              .joined()
          }.joined(separator: ",")
      }.joined(separator: " ")
    }
  }

  @Test func roundTrip() throws {
    let bytes = TombstoneTests.sample()
    let batch = try #require(decode(bytes))
    #expect(text(batch) == "3:2#2 n2,2#7 n7 3:2#9 n9 5:2#1 n1")
    #expect(batch.transactions.map(\.author) == [1, 1, 1])
    #expect(decode(bytes, []) == nil)
    // The ends of records are ends of payloads, too.
    var ends: [Int] = []
    var end = 0
    while end < bytes.count {
      end += Int(bytes[end]) + 1
      ends.append(end)
    }
    for length in bytes.indices {
      #expect((decode(Bytes(bytes.prefix(length))) != nil) == ends.contains(length))
    }
    #expect(decode(bytes + [0]) == nil)
  }

  /// A flipped bit is refused, or read as something else that keeps the rules.
  @Test func flips() throws {
    let bytes = TombstoneTests.sample()
    let good = text(try #require(decode(bytes)))
    for bit in 0..<bytes.count * 8 {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      guard let other = decode(flipped) else { continue }
      #expect(other.changes.allSatisfy { $0.kind == .delete } && !other.changes.isEmpty)
      let numbers = other.transactions.map(\.number)
      #expect(numbers == numbers.sorted() && other.transactions.allSatisfy(\.isPlain))
      let isSame = text(other) == good
      // Timestamp, author, context and opening.
      let isOther = other.transactions.contains { record in
        record.author != 1 || record.context != 0 || record.opening != 0
          || record.timestamp.microseconds != -5
      }
      #expect(!isSame || isOther, "bit \(bit)")
    }
  }

  @Test func refused() {
    func isRead(_ record: [UInt8]...) -> Bool {
      decode(record.reduce(into: Bytes()) { $0 += [UInt8($1.count)] + $1 }) != nil
    }
    func delete(_ number: UInt8) -> [UInt8] { [number, 0, 0, 0, 0, 0, 1, 6, 2, 0] }
    #expect(isRead(delete(3)))
    #expect(isRead(delete(3), delete(3), delete(4)))
    #expect(!isRead(delete(4), delete(3)))
    #expect(!isRead())
    #expect(!isRead([3, 0, 0, 0, 0, 0, 0]), "no delete")
    #expect(!isRead([3, 0, 0, 0, 0, 0, 1, 4, 2, 0]), "an insert")
    #expect(!isRead([3, 0, 0, 0, 0, 0, 2, 6, 2, 0, 4, 4, 0]), "an insert behind")
    #expect(!isRead([3, 0, 0, 0, 0, 1, 1, 1, 1, 97, 1, 6, 2, 0]), "a new name")
    #expect(!isRead(delete(3) + [0]), "a byte behind")
  }

  private func directory(_ kept: KeptTombstones?, isBase: Bool = true) -> CheckpointDirectory {
    var directory = CheckpointDirectory(number: 9)
    directory.isBase = isBase
    directory.tombstones = kept
    return directory
  }

  private func frame(_ offset: UInt64, first: Int64, count: UInt32) -> ChunkReference {
    ChunkReference(offset: offset, length: 100, checksum: 7, first: first, count: count)
  }

  @Test func directories() throws {
    let kept = KeptTombstones(
      completeAfter: 4,
      frames: [frame(12_288, first: 0, count: 3), frame(12_416, first: 3, count: 1)])
    for kept in [kept, KeptTombstones(completeAfter: 9), KeptTombstones(completeAfter: 0), nil] {
      let bytes = directory(kept).encode()
      let decoded = try bytes.withUnsafeBytes { try CheckpointDirectory.decode($0) }
      #expect(decoded.tombstones == kept && decoded.encode() == bytes)
    }
    #expect(kept.count == 4)
    let wrong: [(KeptTombstones, Bool)] = [
      (KeptTombstones(completeAfter: 10), true), (KeptTombstones(completeAfter: 4), false),
      (KeptTombstones(completeAfter: 4, frames: [frame(12_288, first: 1, count: 1)]), true),
      (KeptTombstones(completeAfter: 4, frames: [frame(12_288, first: 0, count: 0)]), true),
      (
        KeptTombstones(
          completeAfter: 4,
          frames: [frame(12_288, first: 0, count: 3), frame(12_416, first: 4, count: 1)]), true
      ),
      (
        KeptTombstones(
          completeAfter: 4,
          frames: [frame(12_288, first: 0, count: 3), frame(12_296, first: 3, count: 1)]), true
      ),
    ]
    for (kept, isBase) in wrong {
      let bytes = directory(kept, isBase: isBase).encode()
      #expect(throws: DecodeFault.self) {
        try bytes.withUnsafeBytes { _ = try CheckpointDirectory.decode($0) }
      }
    }
  }
}
