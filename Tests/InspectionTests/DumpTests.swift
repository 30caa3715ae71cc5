import AnnalsDescription
import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

@Suite struct DumpTests {
  private func dump(
    _ bytes: ContiguousArray<UInt8>, _ edit: (inout DumpOptions) -> Void = { _ in }
  ) throws -> (text: String, summary: DumpSummary) {
    var options = DumpOptions()
    edit(&options)
    var text = ""
    var dump = try FileDump(bytes.opened(), options: options)
    let summary = try dump.run {
      text += $0
      return true
    }
    return (text, summary)
  }

  /// Compares with a file in Tests/Golden; writes it instead where ANNALS_RECORD is set.
  private func expect(
    _ text: String, golden name: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let file = packageFolder.appending(path: "Tests/Golden/\(name)")
    #expect(try text == golden(file, recording: text), sourceLocation: sourceLocation)
  }

  @Test func framesAsText() throws {
    let (text, summary) = try dump(SampleStore.plain().bytes)
    #expect(summary.regions == 12 && summary.problems == 0)
    try expect(text, golden: "dump.txt")
  }

  @Test func bytesAsText() throws {
    let text = try dump(SampleStore.plain().bytes) { $0.bytes = true }.text
    try expect(text, golden: "dump-bytes.txt")
  }

  @Test func framesAsJSON() throws {
    let text = try dump(SampleStore.plain().bytes) { $0.style = .jsonLines }.text
    try expect(text, golden: "dump.jsonl")
    for line in text.split(separator: "\n") {
      _ = try JSONSerialization.jsonObject(with: Data(line.utf8))
    }
  }

  /// The hexadecimal of all fields, put together, is the file.
  @Test func bytesAsJSON() throws {
    let bytes = SampleStore.complete().bytes
    let text = try dump(bytes) {
      $0.style = .jsonLines
      $0.bytes = true
    }.text
    var found: ContiguousArray<UInt8> = []
    for line in text.split(separator: "\n") {
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      if let hex = object?["hex"] as? String {
        var digits = Substring(hex)
        while let byte = UInt8(digits.prefix(2), radix: 16) {
          found.append(byte)
          digits = digits.dropFirst(2)
        }
      } else {
        let count = (object?["length"] as? NSNumber)?.intValue ?? 0
        found += ContiguousArray(repeating: 0, count: count)
      }
    }
    #expect(found == bytes)
  }

  @Test func ofDamage() throws {
    let sound = SampleStore.plain().bytes
    let frames = try regions(in: sound).filter { $0.frame != nil }
    let bytes = sound.flipping(bit: 0, ofByte: Int(frames[1].offset) + 12)
      .flipping(bit: 0, ofByte: Int(frames[2].offset) + 28).flipping(bit: 0, ofByte: 5000)
    let (text, summary) = try dump(bytes)
    #expect(summary.problems == 3)
    try expect(text, golden: "dump-damaged.txt")
  }

  @Test func fromAndLimit() throws {
    let bytes = SampleStore.complete().bytes
    let all = try dump(bytes).text.split(separator: "\n")
    let frame = try regions(in: bytes).filter { $0.frame != nil }[7]
    let part = try dump(bytes) {
      $0.from = frame.end - 1
      $0.limit = 2
    }
    #expect(part.summary.regions == 2)
    // Names from before are not known, so that lines with them differ.
    let lines = part.text.split(separator: "\n")
    #expect(lines.first?.contains("\(frame.offset)") == true)
    #expect(lines.filter { !$0.contains("author") }.allSatisfy { all.contains($0) })
  }

  @Test func stopsWhenTold() throws {
    var dump = try FileDump(SampleStore.complete().bytes.opened(), options: DumpOptions())
    var calls = 0
    _ = try dump.run { _ in
      calls += 1
      return calls < 3
    }
    #expect(calls == 3)
  }
}
