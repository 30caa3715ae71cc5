import Annals
import AnnalsModel
import Testing

/// Transactions too big for one frame.
@Suite struct BigTransactionTests {
  private static let count = 100_000

  @Test func aHundredThousandChangesAreOneTransaction() throws {
    let location = memoryFile()
    let store = try noteStore(location)
    let count = BigTransactionTests.count
    try store.write(author: "many", metadata: ["k": "v"]) { tx in
      for index in 0..<count {
        try tx.insert("Note", ["id": .string("\(index)"), "text": .string("text of \(index)")])
      }
    }
    try store.write(author: "ann") { tx in
      for row in 1...count {
        let id = ObjectID(store: RawUUID(store.id), entity: 1, row: Int64(row))
        if row % 3 == 0 {
          try tx.delete(id)
        } else {
          try tx.update(id, ["count": .int(Int64(row))])
        }
      }
    }
    try store.note("last")
    try check(store)
    try store.close()
    try check(try Store(location, creates: false))
  }

  private func check(_ store: Store) throws {
    let count = BigTransactionTests.count
    #expect(store.token.number == 4)
    for (number, expected) in [
      (1, 0), (2, count), (3, count - count / 3), (4, count - count / 3 + 1),
    ] {
      #expect(try store.snapshot(at: number).count(of: "Note") == expected, "at \(number)")
    }
    let id = ObjectID(store: RawUUID(store.id), entity: 1, row: 4)
    #expect(try store.snapshot(at: 2).object(id)?["count"] == .null)
    #expect(try store.snapshot(at: 3).object(id)?["count"] == .int(4))
    let forward = try store.history().collect()
    #expect(forward.map(\.changes.count) == [0, count, count, 1])
    #expect(forward.map(\.author) == [nil, "many", "ann", nil])
    #expect(forward[1].metadata == ["k": "v"])
    let backward = try store.history().reversed().collect()
    #expect(backward.map(\.changes.count) == [1, count, count, 0])
    #expect(backward.map(\.number) == [4, 3, 2, 1])
    var headers: [TransactionHeader] = []
    try store.history().reversed().forEachHeader { headers.append($0) }
    #expect(headers.map(\.changeCount) == [1, count, count, 0])
    #expect(headers.map(\.author) == [nil, "ann", "many", nil])
    #expect(headers[2].metadata == ["k": "v"])
    // Only whether they are equal: how two long lists differ takes hours.
    let isSame = zip(backward[1].changes, forward[2].changes).allSatisfy {
      $0.objectID == $1.objectID
    }
    #expect(isSame)
    #expect(backward[2].metadata == ["k": "v"])
    checkWalks(of: forward[2])
    var seen = 0
    try store.history(where: .kind(.delete)).forEachChange { _ in seen += 1 }
    #expect(seen == count / 3)
    #expect(try store.history(where: .touches(id)).collect().map(\.number) == [2, 3])
    #expect(forward[2].changes[count - 1].objectID.row == Int64(count))
    #expect(forward[2].changes[70_000].objectID.row == 70_001)
    #expect(try store.verifyHistory() == [])
  }

  /// Loops and closures meet the same changes and the same properties.
  private func checkWalks(of transaction: Transaction) {
    var changes = transaction.changes.makeIterator()
    var isSame = true
    transaction.changes.forEach { change in
      guard let other = changes.next(), other.objectID == change.objectID,
        other.kind == change.kind
      else { return isSame = false }
      var properties = other.properties.makeIterator()
      change.properties.forEach { isSame = isSame && properties.next()?.number == $0.number }
      isSame = isSame && properties.next() == nil
    }
    #expect(isSame && changes.next() == nil, "\(transaction.number)")
  }
}
