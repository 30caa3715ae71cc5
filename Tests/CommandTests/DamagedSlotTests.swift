import Annals
import Foundation
import Testing

@testable import AnnalsCommand

/// Headers and root slots that are not what they were, as a user of the command meets them: once
/// they were taken for a torn tail, and the next `put` zeroed the log.
@Suite struct DamagedSlotTests {
  private func filled(_ count: Int) throws -> CommandFolder {
    let folder = try CommandFolder()
    for number in 1...count {
      #expect(folder.run("put", "@s", "Post/k\(number)", "title=T\(number)").status == .done)
    }
    return folder
  }

  private func bytes(_ folder: CommandFolder) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.file("s"))))
  }

  /// Nothing writes to such a file, `verify` calls it damaged, and salvage finds everything.
  private func expectDamage(_ bytes: [UInt8], _ folder: CommandFolder, _ count: Int) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: folder.file("s")))
    let verified = folder.run("verify", "@s")
    #expect(
      verified.status == .foundProblems && verified.output.contains("error at"), "\(verified)")
    let put = folder.run("put", "@s", "Post/new", "title=x")
    #expect(put.status == .couldNotRun && put.errors.contains("annals salvage"), "\(put)")
    #expect(try self.bytes(folder) == bytes)
    let salvaged = folder.run("salvage", "@s", "@out")
    let state = folder.run("state", "@out")
    #expect(state.output.split(separator: "\n").count == count, "\(salvaged) \(state)")
    #expect(folder.run("verify", "@out").status == .done)
    try FileManager.default.removeItem(atPath: folder.file("out"))
  }

  @Test func aHeaderOfAnOlderGeneration() throws {
    let folder = try filled(20)
    let old = try bytes(folder)
    #expect(folder.run("compact", "@s").status == .done)
    let lines = folder.run("state", "@s").output.split(separator: "\n").count
    var damaged = try bytes(folder)
    damaged.replaceSubrange(0..<4096, with: old[0..<4096])
    try expectDamage(damaged, folder, lines)
  }

  /// Of a compacted store no frame says what was synced.
  @Test func bothSlotsOfACompactedStore() throws {
    let folder = try filled(40)
    #expect(folder.run("compact", "@s").status == .done)
    let lines = folder.run("state", "@s").output.split(separator: "\n").count
    var damaged = try bytes(folder)
    damaged[5000] ^= 2
    damaged[9000] ^= 2
    try expectDamage(damaged, folder, lines)
    for index in 4096..<12_288 { damaged[index] = 0 }
    try expectDamage(damaged, folder, lines)
  }

  /// Zeros in one slot are told, and the next writer puts the slot right.
  @Test(arguments: [4096, 8192]) func zerosInOneSlot(place: Int) throws {
    let folder = try filled(3)
    #expect(folder.run("verify", "@s").status == .done)
    var damaged = try bytes(folder)
    for index in place..<place + 4096 { damaged[index] = 0 }
    try Data(damaged).write(to: URL(fileURLWithPath: folder.file("s")))
    let verified = folder.run("verify", "@s")
    #expect(verified.status == .foundProblems, "\(verified)")
    #expect(verified.output.contains("warning at \(place)"), "\(verified)")
    #expect(folder.run("put", "@s", "Post/new", "title=x").status == .done)
    #expect(folder.run("verify", "@s").status == .done)
  }
}
