import Annals
import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import Testing

@testable import FuzzTargets

/// Chunks of state whose checksums are right and that are not what their references say: no rewrite
/// carries them over.
@Suite struct UndecodableChunkTests {
  /// The places in a file of the frames that hold chunks of state, by their kind: 1 rows, 2 a
  /// column, 3 an index.
  private func chunks(of image: LogImage) -> [(index: Int, offset: UInt64)] {
    var offset = FormatLimits.logStart
    var result: [(index: Int, offset: UInt64)] = []
    for (index, frame) in image.frames.enumerated() {
      if frame.kind == FrameKind.chunk.rawValue { result.append((index, offset)) }
      offset += UInt64(FormatLimits.frameHeaderLength + (frame.payload.count + 7) / 8 * 8)
    }
    return result
  }

  /// Of a base they are damage, with its place; nothing is left of the new file.
  @Test(arguments: [false, true]) func ofABaseEndTheReplay(flatten: Bool) throws {
    let whole = try LogImage.fixture("flattened")
    let chunks = chunks(of: whole)
    #expect(chunks.count > 2)
    for (index, offset) in chunks {
      for (byte, what) in [(0, "another kind"), (2, "another entity or property")] {
        var image = whole
        let old = image.frames[index].payload[byte]
        image.frames[index].payload[byte] = byte == 0 ? (old == 1 ? 2 : 1) : old ^ 64
        let files = MemoryFileSystem()
        let location = try image.location(in: files)
        let error = #expect(throws: AnnalsError.self, "\(what) at \(offset)") {
          let store = try Store(location, creates: false, options: .readOnly)
          try store.replay(to: "/out.annals", at: store.token.number, flatten: flatten)
        }
        #expect(error?.code == .damaged, "\(what) at \(offset): \(error as Any)")
        #expect(error?.offset == offset, "\(what) at \(offset): \(error as Any)")
        #expect(error?.message.contains("erify") == true, "\(error as Any)")
        #expect(files.paths == [location.path], "\(what) at \(offset)")
      }
    }
  }

  /// Of a checkpoint they are left out with it, as those whose checksum is wrong: the history has
  /// all that it says.
  @Test(arguments: ["replay", "flatten", "compact"])
  func ofACheckpointAreMadeAnew(rewrite: String) throws {
    let whole = try LogImage.fixture("compacted")
    let chunks = chunks(of: whole)
    #expect(chunks.count > 2)
    for (index, offset) in chunks {
      var image = whole
      image.frames[index].payload[0] = image.frames[index].payload[0] == 1 ? 2 : 1
      var location = try image.location()
      let store = try Store(location, creates: false)
      switch rewrite {
      case "compact": try store.compact()
      default:
        location = StoreLocation(fileSystem: location.fileSystem, path: "/out.annals")
        try store.replay(to: location.path, at: store.token.number, flatten: rewrite == "flatten")
      }
      let notes = try store.snapshot().count(of: "Note")
      try store.close()
      let new = try Store(location, creates: false, options: .readOnly)
      let found = try new.verify().filter { $0.severity != .note }
      #expect(found == [], "\(rewrite), chunk at \(offset)")
      #expect(try new.snapshot().count(of: "Note") == notes)
    }
  }
}
