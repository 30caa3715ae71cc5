import Foundation
import Testing

@testable import AnnalsCommand

/// What the command says of files that were cut, and that dump leaves with what it found.
@Suite struct CutFileTests {
  /// A closed store of three transactions, `bytes` of which are in `@cut.annals`.
  private func folder(_ edit: (inout Data) -> Void) throws -> CommandFolder {
    let folder = try CommandFolder()
    for text in ["a", "b", "c"] { folder.run("put", "@whole.annals", "Note/\(text)", "text=x") }
    var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file("whole.annals")))
    edit(&bytes)
    try bytes.write(to: URL(fileURLWithPath: folder.file("cut.annals")))
    return folder
  }

  @Test(arguments: [8, 9, 512, 4095])
  func aFileCutWithinItsHeaderIsAStoreOnce(length: Int) throws {
    let folder = try folder { $0 = $0.prefix(length) }
    for command in ["state", "log", "get", "put", "compact", "salvage"] {
      var arguments = [command, "@cut.annals"]
      if command == "get" || command == "put" { arguments.append("Note/a") }
      if command == "put" { arguments.append("text=y") }
      if command == "salvage" { arguments.append("@out.annals") }
      let run = folder.run(arguments)
      #expect(run.status == .couldNotRun, "\(run)")
      #expect(
        run.errors.contains("ends within its header (\(length) of 4096 bytes)")
          && run.errors.contains("Restore a copy") && !run.errors.contains("Check the path"),
        "\(run)")
    }
    let verified = folder.run("verify", "@cut.annals")
    #expect(verified.status == .foundProblems)
    #expect(verified.output.contains("\(length) of 4096 bytes"), "\(verified)")
    #expect(verified.output.contains("Restore a copy"), "\(verified)")
    #expect(folder.run("dump", "@cut.annals").status == .foundProblems)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        == ["cut.annals", "whole.annals"])
  }

  @Test(arguments: [0, 1, 7])
  func fewerBytesThanTheMagicAreNoStore(length: Int) throws {
    let folder = try folder { $0 = $0.prefix(length) }
    let run = folder.run("state", "@cut.annals")
    #expect(run.status == .couldNotRun)
    #expect(run.errors.contains("is not an Annals store: it has"), "\(run)")
    #expect(run.errors.contains("Check the path"), "\(run)")
    #expect(folder.run("verify", "@cut.annals").output.contains("Check the path"))
  }

  /// Each frame of what is left is in order; only the whole is not.
  @Test func aCutBetweenFramesIsSeenByDump() throws {
    let folder = try folder { _ in }
    let whole = folder.run("dump", "@whole.annals")
    #expect(whole.status == .done && whole.errors.isEmpty, "\(whole)")
    let offsets = whole.output.split(separator: "\n").compactMap {
      UInt64($0.prefix(12).trimmingCharacters(in: .whitespaces))
    }
    let last = try #require(offsets.last)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file("whole.annals")))
    try bytes.prefix(Int(last)).write(to: URL(fileURLWithPath: folder.file("cut.annals")))
    let cut = folder.run("dump", "@cut.annals")
    #expect(cut.status == .foundProblems, "\(cut)")
    #expect(cut.errors.contains("@cut.annals is damaged: the file is shorter than the "), "\(cut)")
    #expect(cut.errors.contains("annals verify"), "\(cut)")
    // What was not looked at is not judged.
    let some = folder.run("dump", "@cut.annals", "--from", "12288", "--limit", "1")
    #expect(some.status == .done && some.errors.isEmpty, "\(some)")
    let behind = folder.run("dump", "@cut.annals", "--from", "\(last)")
    #expect(behind.status == .couldNotRun && behind.output.isEmpty)
    #expect(behind.errors.hasSuffix("bytes; there is none at \(last)\n"), "\(behind)")
    // Nor is a hole of zeros any frame's fault.
    var holed = bytes
    for index in Int(offsets[4])..<Int(offsets[5]) { holed[index] = 0 }
    try holed.write(to: URL(fileURLWithPath: folder.file("cut.annals")))
    let hole = folder.run("dump", "@cut.annals")
    #expect(hole.status == .foundProblems && hole.errors.contains("though bytes behind it were"))
    #expect(folder.run("verify", "@cut.annals").status == .foundProblems)
    #expect(folder.run("stat", "@cut.annals").status == .foundProblems)
  }

  /// What a crash leaves behind the last commit is no damage of dump's either way of counting.
  @Test func zerosAheadAreInOrder() throws {
    let folder = try folder { $0.append(Data(repeating: 0, count: 4096)) }
    #expect(folder.run("dump", "@cut.annals").status == .done)
  }
}
