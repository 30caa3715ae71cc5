import Annals
import AnnalsModel
import Testing

/// Transactions around the length of a part: one of them ends just where its last part is full, and
/// nothing is left for another one.
@Suite struct PartBoundTests {
  @Test func aTransactionMayEndWithAFullPart() throws {
    let text = String(repeating: "x", count: 3_000)
    for count in 82...92 {
      let location = memoryFile()
      let store = try noteStore(location)
      let notes = try store.write { tx in
        try (0..<count).map { number in
          try tx.insert("Note", ["id": .string("\(number)"), "text": .string("\(text)\(number)")])
        }
      }
      #expect(store.token.number == 2, "\(count)")
      try store.write { tx in
        for note in notes { try tx.update(note, ["text": .string("y\(text)")]) }
      }
      try store.write { tx in for note in notes { try tx.delete(note) } }
      #expect(store.token.number == 4, "\(count)")
      try store.close()
      let read = try Store(location, creates: false)
      let counts = try read.history().collect(limit: 10).map(\.changes.count)
      #expect(counts == [0, count, count, count])
      let forward = try read.history().collect(limit: 10)
      let backward = try read.history().reversed().collect(limit: 10)
      #expect(backward.map(\.number) == [4, 3, 2, 1])
      for (one, other) in zip(forward, backward.reversed()) {
        #expect(one.changes.map(\.objectID.row) == other.changes.map(\.objectID.row))
        #expect(one.timestamp == other.timestamp, "\(one.number)")
      }
      #expect(try read.snapshot(at: 2).count(of: "Note") == count)
      #expect(try read.snapshot().count(of: "Note") == 0)
      #expect(try read.verifyHistory() == [])
      try read.close()
    }
  }
}
