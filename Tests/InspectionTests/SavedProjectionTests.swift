import AnnalsDescription
import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import Testing

/// What verification says of saved projections, and the dump.
@Suite struct SavedProjectionTests {
  /// The findings about a file with one saved state, as of transaction 7 like its checkpoint.
  private func findings(
    generation: UInt64 = 1, _ edit: (inout SavedProjection) -> Void = { _ in }
  ) throws -> [Finding] {
    try InspectionTests.findings(in: file(generation: generation, edit).bytes)
  }

  private func file(
    generation: UInt64 = 1, _ edit: (inout SavedProjection) -> Void = { _ in }
  ) -> HandMadeFile {
    SampleStore.complete { file in
      let payload = ProjectionCodec.encode(
        ProjectionCodec.Contents(
          name: "words", version: 2, number: 7, state: ContiguousArray("fog 3".utf8)))
      var saved = SavedProjection(
        name: "words", version: 2, chunk: file.append(chunk: payload, first: 7, count: 1))
      edit(&saved)
      return SavedProjections(generation: generation, [saved])
    }
  }

  @Test func aSoundOneIsNoFinding() throws { #expect(try findings() == []) }

  /// A program that does not know the list has carried it along: nothing in it counts.
  @Test func oneOfAnotherGenerationIsIgnored() throws {
    let found = try findings(generation: 7) { $0.chunk.offset = 4_000_000 }
    #expect(found.map(\.severity) == [.note])
    #expect(found.first?.what.contains("generation 7 of the file, which is 1") == true, "\(found)")
  }

  private static let faults: [(text: String, edit: @Sendable (inout SavedProjection) -> Void)] = [
    ("there is no whole chunk", { $0.chunk.offset = 4_000_000 }),
    ("it is another chunk", { $0.chunk.checksum ^= 1 }),
    ("the state of another projection", { $0.name = "letters" }),
    ("the state of another projection", { $0.version = 3 }),
    ("it is as of transaction 7", { $0.chunk.first = 6 }),
    ("has a state of the projection \"words\" as of 8", { $0.chunk.first = 8 }),
  ]

  @Test(arguments: faults.indices) func whatIsWrongIsAWarning(index: Int) throws {
    let (text, edit) = Self.faults[index]
    let found = try findings(edit)
    #expect(found.map(\.severity) == [.warning])
    #expect(found.first?.what.contains(text) == true, "\(found)")
    #expect(found.first?.remedy.hasPrefix("Compact the file") == true)
  }

  @Test func theDumpSaysWhatItIs() throws {
    var text = ""
    for bytes in [false, true] {
      var options = DumpOptions()
      options.bytes = bytes
      var dump = try FileDump(file().bytes.opened(), options: options)
      _ = try dump.run {
        text += $0
        return true
      }
    }
    for line in [
      "state of the projection \"words\", version 2, as of 7: 5 bytes",
      "6 the state of a projection",
      "the program's own bytes", "\"words\", version 2, as of 7, at ", "10, saved projections",
    ] { #expect(text.contains(line), "\(line)") }
  }
}
