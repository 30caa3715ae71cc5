import Foundation
import Testing

@testable import AnnalsCommand

/// What a crash left, or a root slot that cannot be used, is told by every command that opens the
/// file; what the command prints, and its exit status, stay as they are.
@Suite struct TornTailTests {
  private static let readers = [
    ["state", "@s"], ["log", "@s"], ["get", "@s", "Post/a"], ["export", "@s"], ["stat", "@s"],
    ["diff", "@s", "base..head"], ["blame", "@s", "Post/a"], ["show", "@s", "1"], ["schema", "@s"],
    ["replay", "@s", "@copy", "--to", "head"], ["prune", "@s", "--before", "2", "--dry-run"],
  ]

  private func bytes(_ folder: CommandFolder) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.file("s"))))
  }

  /// Runs every reading command on `@s` as it is and with these bytes.
  private func compare(
    _ folder: CommandFolder, _ damaged: [UInt8], telling text: String
  ) throws {
    let whole = try bytes(folder)
    for arguments in TornTailTests.readers {
      try Data(whole).write(to: URL(fileURLWithPath: folder.file("s")))
      try? FileManager.default.removeItem(atPath: folder.file("copy"))
      let expected = folder.run(arguments)
      #expect(expected.status == .done && expected.errors == "", "\(expected)")
      try Data(damaged).write(to: URL(fileURLWithPath: folder.file("s")))
      try? FileManager.default.removeItem(atPath: folder.file("copy"))
      let run = folder.run(arguments)
      #expect(run.errors.hasPrefix("annals: @s: \(text)"), "\(arguments): \(run)")
      #expect(run.errors.split(separator: "\n").count == 1, "\(arguments): \(run)")
      #expect(run.status == expected.status, "\(arguments): \(run)")
      // The size of the file, and what the bytes are used for, are otherwise.
      if arguments[0] != "stat" { #expect(run.output == expected.output, "\(arguments)") }
      #expect(try bytes(folder) == damaged, "\(arguments) wrote to the file")
    }
  }

  private func filled() throws -> CommandFolder {
    let folder = try CommandFolder()
    for text in ["Fog", "Mist"] { folder.run("put", "@s", "Post/a", "title=\(text)") }
    return folder
  }

  @Test func theRestOfATransaction() throws {
    let folder = try filled()
    let closed = try bytes(folder)
    folder.run("put", "@s", "Post/a", "title=Never acknowledged")
    let torn = closed + (try bytes(folder))[closed.count..<closed.count + 41]
    try Data(closed).write(to: URL(fileURLWithPath: folder.file("s")))
    try compare(
      folder, torn + [UInt8](repeating: 0, count: 300),
      telling: "41 bytes from offset \(closed.count) on are no whole transaction, and are passed ")
    // `verify` tells by itself, once.
    let verified = folder.run("verify", "@s")
    #expect(verified.errors == "" && verified.output.contains("\(closed.count)"), "\(verified)")
    // A writer tells, too, before it clears them away.
    try folder.write(#"{"changes":[]}"# + "\n", to: "lines")
    for writer in [["put", "@s", "Post/b", "title=B"], ["import", "@s", "@lines"]] {
      try Data(torn).write(to: URL(fileURLWithPath: folder.file("s")))
      let run = folder.run(writer)
      #expect(run.status == .done && run.errors.contains("41 bytes from"), "\(writer): \(run)")
    }
    try Data(torn).write(to: URL(fileURLWithPath: folder.file("s")))
    let reverted = folder.run("revert", "@s", "2", "--yes")
    #expect(reverted.status == .done && reverted.errors.contains("41 bytes from"), "\(reverted)")
    #expect(folder.run("state", "@s").errors == "")
  }

  @Test(arguments: [0, 1]) func aRootSlotThatCannotBeUsed(_ index: Int) throws {
    let folder = try filled()
    let place = 4096 * (index + 1)
    var damaged = try bytes(folder)
    damaged[place + 50] ^= 4
    try compare(folder, damaged, telling: "root slot \(index) is unreadable: ")
    try Data(try bytes(folder)).write(to: URL(fileURLWithPath: folder.file("s")))
    #expect(folder.run("state", "@s").errors.contains("(offset \(place)). Nothing is lost: "))
  }
}
