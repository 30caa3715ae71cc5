import Annals
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import Testing

/// Large values in files that were written anew.
@Suite struct LargeValueRewriteTests {
  private let path = "/test.annals"

  private func text(_ value: Value, _ store: Store) throws -> String? {
    switch value {
    case .string(let text): return text
    case .large(let large): return String(decoding: try store.bytes(of: large), as: UTF8.self)
    default: return nil
    }
  }

  /// The notes' texts, by id.
  private func texts(_ store: Store, at number: Int64) throws -> [String: String] {
    var result: [String: String] = [:]
    for note in try store.snapshot(at: number).objects(of: "Note") {
      guard let id = try text(note["id"], store) else { continue }
      result[id] = try text(note["text"], store)
    }
    return result
  }

  private func long(_ number: Int) -> String {
    String(repeating: "\(number) ", count: 1_500 + number)
  }

  /// 60 transactions about notes with short and long texts; the texts after each.
  private func write(_ store: Store) throws -> [Int64: [String: String]] {
    var states: [Int64: [String: String]] = [store.token.number: [:]]
    var texts: [String: String] = [:]
    var ids: [String: ObjectID] = [:]
    for number in 1...60 {
      let known = texts.keys.sorted()
      try store.write { tx in
        func insert(_ text: String) throws {
          let id = "n\(number)"
          ids[id] = try tx.insert("Note", ["id": .string(id), "text": .string(text)])
          texts[id] = text
        }
        func update(_ id: String, _ text: String) throws {
          try tx.update(try #require(ids[id]), ["text": .string(text)])
          texts[id] = text
        }
        switch number % 7 {
        case 1, 2: try insert(long(number))
        case 3: try update(known[number % known.count], long(number))
        case 4: try update(known[number % known.count], "short \(number)")
        case 5: try insert("short \(number)")
        case 6:
          let id = known[number % known.count]
          try tx.delete(try #require(ids[id]))
          texts[id] = nil
        default:
          try insert(long(number))
          try update(known[0], long(number + 100))
        }
      }
      states[store.token.number] = texts
    }
    return states
  }

  /// Every value that history mentions can be read.
  private func readAll(_ store: Store) throws -> Int {
    var count = 0
    for transaction in try store.history().collect() {
      for change in transaction.changes {
        for property in change.properties {
          for value in [property.before, property.after] {
            if case .large(let large) = value {
              #expect(try store.bytes(of: large).count == Int(large.length))
              count += 1
            }
          }
        }
      }
    }
    return count
  }

  @Test func pruningWithinABlockDropsWhatOnlyEarlierTransactionsMention() throws {
    let files = MemoryFileSystem()
    let store = try noteStore(StoreLocation(fileSystem: files, path: path))
    let id = try store.note("a", text: long(60))
    for text in ["short", long(61)] {
      try store.write { try $0.update(id, ["text": .string(text)]) }
    }
    #expect(try store.compact().isRewritten)
    try store.prune(try store.prunePlan(before: 4))
    #expect(try files.frames(of: path, .largeValue).count == 1)
    #expect(try texts(store, at: 3) == ["a": "short"] && texts(store, at: 4) == ["a": long(61)])
    #expect(try files.findings(about: path) == [] && store.verifyHistory() == [])
  }

  @Test func pruningWithinABlockKeepsTheValuesThatAreNeeded() throws {
    let files = MemoryFileSystem()
    let store = try noteStore(StoreLocation(fileSystem: files, path: path))
    let states = try write(store)
    let head = store.token.number
    #expect(try store.compact().isRewritten)
    #expect(try files.findings(about: path) == [])
    var blocks = try files.frames(of: path, .block)
    #expect(blocks.count == 1)
    var mentioned = try readAll(store)
    func countPieces() throws -> Int {
      try files.frames(of: path, .largeValue).count
    }
    let all = try countPieces()
    var pieces = all
    for floor in [18, 39, 56] as [Int64] {
      try store.prune(try store.prunePlan(before: floor))
      #expect(store.base.number == floor - 1)
      #expect(try files.findings(about: path) == [], "\(floor)")
      #expect(try store.verifyHistory() == [], "\(floor)")
      for number in floor - 1...head {
        #expect(try texts(store, at: number) == states[number], "\(floor): \(number)")
      }
      let left = try readAll(store)
      #expect(left > 0 && left < mentioned)
      mentioned = left
      let fewer = try countPieces()
      #expect(fewer <= pieces)
      pieces = fewer
      blocks = try files.frames(of: path, .block)
      #expect(blocks.count == 1)
    }
    #expect(pieces < all, "values that nothing mentions are dropped")
    try store.note("more", text: long(200))
    try store.close()
    #expect(try files.findings(about: path) == [])
    let again = try Store(StoreLocation(fileSystem: files, path: path), creates: false)
    #expect(try again.verifyHistory() == [])
    #expect(try texts(again, at: head) == states[head])
  }

  /// How many entries of the newest history index name frames of large values.
  private func largeValueEntries(_ files: MemoryFileSystem, _ store: Store) throws -> Int {
    var kinds: [UInt64: FrameKind] = [:]
    for region in try files.regions(of: path) {
      if let frame = region.frame { kinds[region.offset] = frame.header.kind }
    }
    let directory = try #require(try store.version.view.checkpoint(atOrBefore: .max))
    return directory.historyIndex.entries.count { kinds[$0.offset] == .largeValue }
  }

  /// What the history index names may be the frame of a large value.
  @Test func theHistoryIndexNamesWhereUnitsBegin() throws {
    let files = MemoryFileSystem()
    let store = try noteStore(StoreLocation(fileSystem: files, path: path))
    for number in 1...40 { try store.note("n\(number)", text: long(number)) }
    try store.checkpoint()
    #expect(try largeValueEntries(files, store) > 1)
    #expect(try files.findings(about: path) == [])
    #expect(try store.compact().isRewritten)
    #expect(try largeValueEntries(files, store) > 0)
    #expect(try files.findings(about: path) == [])
    #expect(try store.verifyHistory() == [])
  }
}
