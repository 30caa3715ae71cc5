import Annals
import AnnalsFormat
import AnnalsStorage
import Testing

/// Rewrites of files with damage that no opening meets.
@Suite struct DamagedRewriteTests {
  /// Two transactions that had changed places before the checkpoint that openings start from ended
  /// the process that compacted or pruned the file: the block that both were put into must count.
  @Test(arguments: [UInt8(2), 4, 9])
  func numbersOutOfOrderStopARewrite(number: UInt8) throws {
    var bytes = try SampleFile.closed.make()
    let header = try bytes.withUnsafeBytes { try FileHeader.decode($0) }
    var offset = Int(FormatLimits.logStart)
    while true {
      let frame = try bytes.withUnsafeBytes { all in
        try FrameHeader.decode(
          UnsafeRawBufferPointer(rebasing: all[offset...]), at: UInt64(offset), seed: header.seed)
      }
      let payload = offset + FormatLimits.frameHeaderLength
      if frame.kind == .transaction, bytes[payload] == 3 {
        bytes[payload] = number
        break
      }
      offset += Int(frame.frameLength)
    }
    let crafted = bytes.sealed()
    for rewrite in ["compact", "prune"] {
      let files = MemoryFileSystem()
      try files.put(crafted, at: SampleFile.path)
      let store = try Store(
        StoreLocation(fileSystem: files, path: SampleFile.path), creates: false)
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
}
