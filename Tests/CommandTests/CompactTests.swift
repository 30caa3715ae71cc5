import Annals
import Testing

@testable import AnnalsCommand

/// What `compact` says it has done.
@Suite struct CompactTests {
  @Test func itTellsWhatWasGainedInBytes() throws {
    let folder = try CommandFolder()
    for text in 1...40 { folder.run("put", "@p.annals", "Note/\(text)", "text=some text") }
    let first = folder.run("compact", "@p.annals")
    let parts = first.output.split(separator: " ")
    #expect(first.output.hasSuffix("% of it\n"), "\(first)")
    let before = try #require(Int(parts[0].replacing(",", with: "")))
    let after = try #require(Int(parts[3].replacing(",", with: "").replacing(",", with: "")))
    #expect(parts[1] == "bytes" && parts[2] == "became" && after < before, "\(first)")
    // What has no more to give is left.
    let second = folder.run("compact", "@p.annals")
    #expect(second.output.hasPrefix("nothing to gain: the file stays as it is, "), "\(second)")
    for run in [first, second] { #expect(!run.output.contains("100.0%")) }
  }

  /// The smallest file has no checkpoint, which the other way adds to one with many changes.
  @Test func itTellsOfACheckpointThatCameToTheFile() throws {
    let folder = try CommandFolder()
    let schema = Schema { Entity("Note") { Attribute("id", .int64) } }
    try Store.with(path: folder.file("p.annals"), schema: schema) { store in
      try store.write { tx in
        for number in 1...5_001 { try tx.insert("Note", ["id": .int(Int64(number))]) }
      }
    }
    let smallest = folder.run("compact", "@p.annals", "--smallest")
    #expect(smallest.output.contains(" became ") && smallest.output.contains("% of it"))
    let larger = folder.run("compact", "@p.annals")
    #expect(larger.output.contains("there was nothing to gain, and the file now has a checkpoint"))
    let again = folder.run("compact", "@p.annals")
    #expect(again.output.hasPrefix("nothing to gain: the file stays as it is, "), "\(again)")
    for run in [smallest, larger] { #expect(!run.output.contains("100.0%")) }
  }

  /// A gain of a few bytes is no percentage.
  @Test func littleIsCalledLittle() throws {
    let folder = try CommandFolder()
    let lines = (1...400).map {
      #"{"changes":[{"op":"insert","entity":"Note","id":"\#($0)","#
        + #""set":{"text":"\#($0 * 7919)"}}]}"# + "\n"
    }
    try folder.write(lines.joined(), to: "p.jsonl")
    #expect(folder.run("import", "@p.annals", "@p.jsonl").status == .done)
    folder.run("compact", "@p.annals")
    folder.run("put", "@p.annals", "Note/1", "text=new")
    let run = folder.run("compact", "@p.annals")
    #expect(
      run.output.hasSuffix(": there was hardly anything to gain\n")
        || run.output.hasPrefix("nothing to gain") || run.output.contains("nothing to gain, and"),
      "\(run)")
    #expect(!run.output.contains("100.0%"))
  }
}
