import Annals
import AnnalsModel
import AnnalsTestSupport
import Testing

/// Conditions on history at the very edges of blocks and segments, where one step too far loses a
/// transaction.
@Suite struct HistoryBoundaryTests {
  private static let filler = String(repeating: "some text or other ", count: 200)

  /// Some hundred notes in transactions of their own, in several blocks if compacted; in one if
  /// not, behind a checkpoint's history index if `isIndexed`.
  private func store(isCompacted: Bool, isIndexed: Bool) throws -> Store {
    let store = try noteStore(memoryFile())
    for index in 0..<400 {
      try store.note("n\(index)", text: "\(index)\(HistoryBoundaryTests.filler)")
      if isIndexed, index == 150 || index == 300 { try store.checkpoint() }
    }
    if isCompacted { try store.compact() }
    return store
  }

  @Test(arguments: [true, false], [true, false])
  func everyObjectAndEveryMomentIsFound(isCompacted: Bool, isIndexed: Bool) throws {
    let store = try store(isCompacted: isCompacted, isIndexed: isIndexed)
    let all = try store.history().collect()
    #expect(all.count == 401)
    for one in all {
      for change in one.changes {
        let found = try store.history(where: .touches(change.objectID)).collect().map(\.number)
        #expect(found == [one.number])
      }
    }
    // Timestamps rise by one step each, so that each moment has a first and a last transaction.
    for one in all where one.number % 7 == 0 || one.number < 3 || one.number > 399 {
      let since = try store.history(where: .since(one.timestamp)).collect()
      #expect(since.first?.number == one.number && since.count == all.count - Int(one.number) + 1)
      let until = try store.history(where: .until(one.timestamp)).collect()
      #expect(until.last?.number == one.number && until.count == Int(one.number))
      let exact = try store.history(where: .since(one.timestamp) && .until(one.timestamp))
      #expect(try exact.collect().map(\.number) == [one.number])
      #expect(try exact.reversed().collect().map(\.number) == [one.number])
    }
  }

  /// Each property, kind, author and entity of one transaction among many is found.
  @Test(arguments: [true, false])
  func whatOneTransactionAloneHasIsFound(isCompacted: Bool) throws {
    let store = try store(isCompacted: false, isIndexed: false)
    let notes = try store.snapshot().objects(of: "Note").map(\.id)
    let deleted = try store.commit(author: "one") { try $0.delete(notes[123]) }.token
    let counted = try store.commit(author: "two") { try $0.update(notes[17], ["count": 5]) }.token
    let folder = try store.commit(author: "three") { try $0.insert("Folder", ["name": "f"]) }.token
    for index in 0..<50 { try store.note("m\(index)", text: HistoryBoundaryTests.filler) }
    if isCompacted { try store.compact() }
    func numbers(_ condition: HistoryCondition) throws -> [Int64] {
      try store.history(where: condition).collect().map(\.number)
    }
    #expect(try numbers(.kind(.delete)) == [deleted.number])
    #expect(try numbers(.touches("Note", "count")) == [counted.number])
    #expect(try numbers(.touches("Folder")) == [folder.number])
    #expect(try numbers(.author == "two") == [counted.number])
    #expect(try numbers(.touches(notes[123]) && .kind(.delete)) == [deleted.number])
    #expect(try numbers(.touches(notes[17]) && .kind(.update)) == [counted.number])
  }
}
