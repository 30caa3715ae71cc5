import Annals
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

/// Rewrites of files with damage that no opening meets.
@Suite struct DamagedRewriteTests {
  /// Two transactions that had changed places before the checkpoint that openings start from ended
  /// the process that compacted or pruned the file: the block that both were put into must count.
  @Test(arguments: [UInt8(2), 4, 9])
  func numbersOutOfOrderStopARewrite(number: UInt8) throws {
    var bytes = try SampleFile.closed.make()
    let third = try bytes.frames().first {
      $0.header.kind == .transaction && bytes[$0.payload.lowerBound] == 3
    }
    bytes[try #require(third).payload.lowerBound] = number
    let crafted = bytes.sealed()
    for rewrite in ["compact", "prune"] {
      let files = MemoryFileSystem()
      let store = try sampleFile(crafted, in: files).store()
      let error = #expect(throws: AnnalsError.self) {
        if rewrite == "compact" { try store.compact(smallest: true) }
        if rewrite == "prune" { try store.prune(store.prunePlan(before: 3)) }
      }
      #expect(error?.code == .damaged, "\(rewrite): \(error as Any)")
      #expect(error?.offset != nil, "\(rewrite): \(error as Any)")
      #expect(files.paths == [SampleFile.path])
      #expect(try store.snapshot().count(of: "Note") == 3)
    }
  }

  private func insert(_ row: Int64, id: String, text: Value) -> ChangeBatch {
    ChangeBatch(.insert, 1, row, [(1, .null, .string(id)), (2, .null, text)])
  }

  /// A base says nothing of how its state came to be, so it has to be right.
  @Test func aKeyThatIsThereTwiceIsNotMadeABase() throws {
    let files = MemoryFileSystem()
    let bytes = try CraftedStore.bytesBehindOne {
      try $0.append(insert(2, id: "a", text: "a"))
      try $0.append(insert(3, id: "a", text: "b"))
      try $0.append(insert(4, id: "d", text: "d"))
    }
    let store = try sampleFile(bytes, in: files).store()
    for rewrite in ["flatten", "prune"] {
      let error = #expect(throws: AnnalsError.self) {
        if rewrite == "prune" { try store.prune(store.prunePlan(before: 4)) }
        if rewrite == "flatten" { try store.replay(to: "/out", at: 4, flatten: true) }
      }
      #expect(error?.code == .damaged, "\(rewrite): \(error as Any)")
      #expect(error?.message.contains("Note#3 and #2 have the same id") == true, "\(rewrite)")
      #expect(files.paths == [SampleFile.path])
    }
    try store.replay(to: "/out", at: 2, flatten: true)
  }

  /// What is copied is looked at before it is a store: a large value that is not what a transaction
  /// says, or is not there.
  @Test(arguments: [false, true]) func replaysAreSound(isMissing: Bool) throws {
    let files = MemoryFileSystem()
    var value = CraftedStore.value(1)
    if !isMissing { value.checksum ^= 1 }
    let bytes = try CraftedStore.bytesBehindOne {
      if !isMissing { try $0.largeValue(1) }
      try $0.append(insert(2, id: "a", text: .large(value)))
    }
    let store = try sampleFile(bytes, in: files).store()
    let place = try #require(try frameList(bytes).last { $0.kind == .transaction })
    for flatten in [false, true] {
      let error = #expect(throws: AnnalsError.self) {
        try store.replay(to: "/out", at: 2, flatten: flatten)
      }
      #expect(error?.code == .damaged, "\(error as Any)")
      #expect(error?.message.contains("large value 1") == true, "\(error as Any)")
      #expect(error?.offset == place.offset || isMissing && flatten, "\(error as Any)")
      #expect(error?.message.contains("erify") == true, "\(error as Any)")
      #expect(files.paths == [SampleFile.path])
    }
    // Up to before it, all is well.
    try store.replay(to: "/out", at: 1)
  }
}
