import AnnalsFormat
import AnnalsModel
import AnnalsState
import AnnalsTestSupport
import Testing

/// Leaves that are made of a chunk in which some rows have no value.
@Suite struct FilledLeafTests {
  /// Which of the rows have a value, by their place from 0.
  private static let patterns: [(name: String, holds: @Sendable (Int) -> Bool)] = [
    ("all", { _ in true }),
    ("one", { $0 == 300 }),
    ("all but one", { $0 != 63 }),
    ("all but the first of a leaf", { $0 & 255 != 0 }),
    ("all but the last of a leaf", { $0 & 255 != 255 }),
    ("every other", { $0 & 1 == 0 }),
    ("every other word", { $0 >> 6 & 1 == 1 }),
    ("every other leaf", { $0 >> 8 & 1 == 0 }),
    ("runs across words", { $0 % 100 < 90 }),
    ("few", { $0 % 97 == 5 }),
  ]
  private static let types: [AttributeType] = [
    .bool, .int64, .double, .date, .uuid, .string, .data, .any,
  ]

  private static func value(_ type: AttributeType, _ row: Int) -> Value {
    switch type {
    case .bool: .bool(row % 3 == 0)
    case .int64: .int(Int64(row) * 1_000_003)
    case .double: .double(Double(row) / 7)
    case .date: .date(Timestamp(microseconds: 1_700_000_000_000_000 + Int64(row) * 977))
    case .uuid: .uuid(RawUUID(high: UInt64(row) &* 0x9E37_79B9, low: ~UInt64(row)))
    case .data: .data((0..<row % 11).map { UInt8(truncatingIfNeeded: row + $0) })
    case .any: row % 2 == 0 ? .int(Int64(row)) : .string("any \(row)")
    default: .string(row % 5 == 0 ? "" : "text \(row)")
    }
  }

  @Test(arguments: FilledLeafTests.patterns.indices)
  func `rows without a value stay without, and the others have theirs`(pattern: Int) throws {
    let (name, holds) = FilledLeafTests.patterns[pattern]
    for count in [400, 4_096, 5_000] {
      let types = FilledLeafTests.types
      var state = State(schema: Schema(entities: [SchemaTests.entity(types)]))
      for place in 0..<count {
        let row = try state.insertRow(1)
        for (index, type) in types.enumerated() where holds(place) {
          try state.set(
            1, row, PropertyNumber(index + 1), to: FilledLeafTests.value(type, place))
        }
      }
      let chunks = MemoryChunks()
      let stored = try State(directory: try state.save(to: chunks), source: chunks)
      for place in 0..<count {
        for (index, type) in types.enumerated() {
          let expected: Value = holds(place) ? FilledLeafTests.value(type, place) : .null
          let found = try stored.value(1, Int64(place + 1), PropertyNumber(index + 1))
          #expect(found == expected, "\(name), \(count) rows, row \(place + 1), \(type)")
        }
      }
      #expect(try stored.invariantViolations() == [], "\(name), \(count) rows")
      // What is written again is what was read.
      var copy = stored
      let again = MemoryChunks()
      _ = try copy.save(to: again, full: true)
      #expect(again.payloads.values.sorted(by: before) == chunks.payloads.values.sorted(by: before))
    }
  }

  private func before(_ a: ContiguousArray<UInt8>, _ b: ContiguousArray<UInt8>) -> Bool {
    a.lexicographicallyPrecedes(b)
  }
}
