import AnnalsDescription
import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsTestSupport
import Testing

/// References to large values, compared with the bytes: each by one step on either side of right.
@Suite struct LargeValueReferenceTests {
  private static let bytes: [UInt8] = [1, 2, 3, 4]

  /// A file with large value 4, a transaction that refers to it, and a checkpoint of its table.
  private func findings(
    reference: (inout LargeValue) -> Void = { _ in },
    checkpoint: (inout CheckpointDirectory) -> Void = { _ in }
  ) throws -> [Finding] {
    var file = SampleStore.small(2)
    file.sync()
    let checksum = LargeValueReferenceTests.bytes.withUnsafeBytes { Checksum.crc32($0) }
    let place = file.append(.largeValue, largeValuePiece(4, LargeValueReferenceTests.bytes))
    var large = LargeValue(tag: .data, number: 4, length: 4, checksum: checksum)
    reference(&large)
    file.append(SampleStore.record(3), [(.update, 1, 1, [(3, .null, .large(large))])])
    var directory = SampleStore.directory(3, changes: 3)
    directory.schemaHistory.entries = [SchemaHistoryEntry(number: 1, schema: SampleStore.schema)]
    directory.largeValues.entries = [LargeValueEntry(number: 4, offset: place, length: 4)]
    directory.nextLargeValueNumber = 5
    checkpoint(&directory)
    file.append(.checkpoint, directory.encode())
    return try InspectionTests.findings(in: file.bytes)
  }

  /// The transaction that replaces a large value refers to it once more.
  @Test func theBytesOfALargeValueAreCountedOnce() throws {
    var file = SampleStore.small(2)
    file.sync()
    let checksum = LargeValueReferenceTests.bytes.withUnsafeBytes { Checksum.crc32($0) }
    file.append(.largeValue, largeValuePiece(4, LargeValueReferenceTests.bytes))
    let large = LargeValue(tag: .data, number: 4, length: 4, checksum: checksum)
    file.append(SampleStore.record(3), [(.update, 1, 1, [(3, .null, .large(large))])])
    file.sync()
    file.append(SampleStore.record(4), [(.update, 1, 1, [(3, .large(large), .null)])])
    let shares = try statistics(of: file.bytes).shares
    #expect(shares.first { $0.propertyName == "picture" }?.largeValueBytes == 4)
  }

  @Test func whatIsRightIsNotTold() throws {
    let found = try findings()
    #expect(!found.contains { $0.subject == .largeValue || $0.subject == .checkpoint }, "\(found)")
  }

  @Test(arguments: [-1, 1])
  func aWrongLengthIsFound(by step: Int) throws {
    let found = try findings(reference: { $0.length = UInt64(4 + step) })
    #expect(
      found.contains { $0.subject == .largeValue && $0.what.contains("a reference to") }, "\(found)"
    )
  }

  @Test(arguments: [1, 0x8000_0000] as [UInt32])
  func aWrongChecksumIsFound(by bit: UInt32) throws {
    let found = try findings(reference: { $0.checksum ^= bit })
    #expect(
      found.contains { $0.subject == .largeValue && $0.what.contains("a reference to") }, "\(found)"
    )
  }

  @Test func theNextNumberIsBehindAllThatAreUsed() throws {
    for (next, isRight) in [(UInt64(3), false), (4, false), (5, true), (6, true)] {
      let found = try findings(checkpoint: { $0.nextLargeValueNumber = next })
      let isTold = found.contains { $0.what.contains("gives \(next) to the next large value") }
      #expect(isTold != isRight, "\(next): \(found)")
    }
  }

  @Test func theTableIsComparedWithTheBytes() throws {
    let offset = try findings(checkpoint: { $0.largeValues.entries[0].offset += 8 })
    #expect(offset.contains { $0.what.contains("the checkpoint lists large value 4 at") })
    let length = try findings(checkpoint: { $0.largeValues.entries[0].length = 5 })
    #expect(length.contains { $0.what.contains("the checkpoint lists large value 4 at") })
  }
}
