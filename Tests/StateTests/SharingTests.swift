import AnnalsFormat
import AnnalsModel
import AnnalsState
import AnnalsTestSupport
import Testing

/// States that share what they have in common, read and changed at once.
@Suite(.deadline) struct SharingTests {
  @Test func `copies are read on many threads while one is changed`() async throws {
    var state = State(schema: Schema(entities: [SchemaTests.entity([.int64, .string, .uuid])]))
    for _ in 0..<6000 {
      let row = try state.insertRow(1)
      try state.set(1, row, 1, to: .int(row))
      try state.set(1, row, 2, to: .string("text \(row)"))
    }
    let chunks = MemoryChunks()
    let loaded = try State(directory: try state.save(to: chunks), source: chunks)
    chunks.forgetReads()
    let sums = try await withThrowingTaskGroup(of: Int64.self) { group in
      for reader in 0..<4 {
        group.addTask {
          var sum: Int64 = 0
          var rows = loaded.rows(of: 1)
          while let row = try rows.next() {
            if case .int(let number) = try loaded.value(1, row, 1) { sum += number }
            if row % 4 == reader {
              let text = try loaded.value(1, row, 2)
              #expect(text == .string("text \(row)"))
            }
          }
          return sum
        }
      }
      var changed = loaded
      for row: Int64 in 1...6000 where row % 3 == 0 {
        try changed.set(1, row, 1, to: .int(-row))
        if row % 2 == 0 { try changed.deleteRow(1, row) }
      }
      #expect(changed.count(of: 1) == 5000)
      var sums: [Int64] = []
      for try await sum in group { sums.append(sum) }
      return sums
    }
    #expect(sums == Array(repeating: 6000 * 6001 / 2, count: 4))
    #expect(try State.firstDifference(state, loaded) == nil)
  }

  @Test func `a run of inserts that is wrong is refused`() throws {
    let state = State(schema: Schema(entities: [SchemaTests.entity([.int64, .string])]))
    func batch(_ properties: [PropertyNumber], row: Int64 = 1) -> ChangeBatch {
      var batch = ChangeBatch()
      for offset: Int64 in 0..<6 {
        batch.append(.insert, 1, row + offset, properties.map { ($0, .null, .int(7)) })
      }
      return batch
    }
    var good = state
    try good.apply(batch([1]))
    #expect(good.count(of: 1) == 6)
    for wrong in [batch([2]), batch([1, 1]), batch([3]), batch([1], row: 0), batch([2, 1])] {
      var copy = state
      #expect(throws: StateFault.self) { try copy.apply(wrong) }
    }
    #expect(throws: StateFault.self) { try good.apply(batch([1], row: 3)) }
    var far = state
    #expect(throws: StateFault.self) { try far.apply(batch([1], row: .max - 10)) }
  }
}
