import Annals
import AnnalsFormat
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsCommand

/// `annals salvage`, as its user sees it.
@Suite struct SalvageTests {
  /// A store of four transactions, the third of which is damaged.
  private func damaged() throws -> CommandFolder {
    let folder = try CommandTests.posts()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file("posts.annals")))
    let dump = folder.run("dump", "@posts.annals", "--format", "jsonl").output
    let line = try #require(
      dump.split(separator: "\n").first {
        $0.contains(#""kind":"transaction""#) && $0.contains(#"{"name":"number","value":3}"#)
      })
    let match = try #require(try /"offset":(\d+)/.firstMatch(in: line))
    bytes[try #require(Int(match.1)) + 40] ^= 1
    try bytes.write(to: URL(fileURLWithPath: folder.file("bad.annals")))
    return folder
  }

  @Test func whatIsLostIsSaidAndShown() throws {
    let folder = try damaged()
    #expect(folder.run("log", "@bad.annals").status == .couldNotRun)
    let salvaged = folder.run("salvage", "@bad.annals", "@new.annals")
    #expect(salvaged.status == .foundProblems && salvaged.errors == "")
    #expect(
      salvaged.output == """
        lost: transaction 3, between 2019-10-22 20:15:08 +0200 and 2019-10-22 20:15:16 +0200; \
        1 object of Post may be stale (payload checksum mismatch at offset 12552)
        @new.annals: 3 transactions, the newest is 4

        """)
    let log = folder.run("log", "@new.annals")
    #expect(log.status == .done)
    #expect(
      log.output.contains(
        "lost: transaction 3  after 2019-10-22 20:15:08 +0200, before 2019-10-22 20:15:16 +0200\n"),
      "\(log.output)")
    #expect(folder.run("log", "@new.annals", "--author", "nobody").output.contains("lost: "))
    let past = folder.run("state", "@new.annals", "--at", "3")
    #expect(past.status == .couldNotRun && past.output == "")
    #expect(past.errors.hasPrefix("annals: transaction 3 is lost: transaction 3 was destroyed by"))
    #expect(past.errors.hasSuffix("annals log shows the gap.\n"))
    let before = folder.run("state", "@new.annals", "--at", "2").output
    #expect(before == folder.run("state", "@posts.annals", "--at", "2").output)
    let verified = folder.run("verify", "@new.annals")
    #expect(verified.status == .done, "\(verified)")
    #expect(verified.output.contains("transaction 3 was lost") || verified.output.contains("lost"))
  }

  /// No writer puts a frame between the parts of a transaction, and no reader accepts one: nor does
  /// a salvage.
  @Test func aFrameBetweenTwoPartsLosesTheTransaction() throws {
    let folder = try CommandFolder()
    let good = try Data(contentsOf: FixtureRecipe.named("continued-transaction").file(".annals"))
    var bytes = try FixtureBytes(ContiguousArray(good))
    let first = try #require(bytes.frames.first { $0.header.flags.contains(.continued) })
    try bytes.rewriteFrames { frame, payload in
      let own = (frame.header.kind, ContiguousArray(payload))
      return frame.offset == first.offset ? [own, (.chunk, [1, 2, 3])] : [own]
    }
    try Data(bytes.bytes).write(to: URL(fileURLWithPath: folder.file("bad.annals")))
    #expect(folder.run("state", "@bad.annals").status == .couldNotRun)
    let salvaged = folder.run("salvage", "@bad.annals", "@new.annals")
    #expect(salvaged.output.contains("whose later parts are missing"), "\(salvaged)")
    #expect(folder.run("verify", "@new.annals").status == .done)
  }

  /// What a newer version wrote is not damaged, and not for this one to salvage; of what only a
  /// writer must know the new store is without.
  @Test(
    arguments: [
      ("newer-required-feature", nil), ("newer-announced-in-frame", nil),
      ("newer-announced-in-slots", nil), ("newer-frame", nil), ("newer-writer-feature", ""),
      ("newer-announced-writer-feature", ""),
      ("newer-announced-optional-feature", "features      optional bits 0x100"),
    ] as [(String, String?)])
  func newerFiles(name: String, features: String?) throws {
    let folder = try CommandFolder()
    let fixture = FixtureRecipe.folder.appending(path: "\(name).annals")
    try FileManager.default.copyItem(atPath: fixture.path, toPath: folder.file("f.annals"))
    let salvaged = folder.run("salvage", "@f.annals", "@new.annals")
    guard let features else {
      #expect(salvaged.status == .couldNotRun && salvaged.errors.contains("newer"), "\(salvaged)")
      #expect(!FileManager.default.fileExists(atPath: folder.file("new.annals")))
      return
    }
    #expect(salvaged.status != .couldNotRun, "\(salvaged)")
    #expect(salvaged.output.contains("only a newer version") == features.isEmpty, "\(salvaged)")
    let stat = folder.run("stat", "@new.annals").output
    #expect((features.isEmpty ? !stat.contains("features") : stat.contains(features)), "\(stat)")
    #expect(!stat.contains("announced"))
    #expect(folder.run("put", "@new.annals", "Note/new", "text=new").status == .done)
    #expect(folder.run("verify", "@new.annals").status == .done)
    #expect(
      folder.run("stat", "@f.annals").output.contains(
        name.contains("announced") ? "announced" : "features"))
  }

  @Test func aSalvagedStoreGoesOn() throws {
    let folder = try damaged()
    folder.run("salvage", "@bad.annals", "@new.annals")
    #expect(folder.run("put", "@new.annals", "Post/a", "title=Again").status == .done)
    #expect(folder.run("get", "@new.annals", "Post/a").output.contains("Again"))
    let exported = folder.run("export", "@new.annals")
    #expect(exported.status == .done && exported.output.contains(#""lost":{"first":3,"last":3"#))
    try folder.write(exported.output, to: "e.jsonl")
    #expect(folder.run("import", "@copy.annals", "@e.jsonl").status == .done)
    for number in ["1", "2", "4", "5"] {
      #expect(
        folder.run("state", "@copy.annals", "--at", number).output
          == folder.run("state", "@new.annals", "--at", number).output)
    }
    #expect(folder.run("compact", "@new.annals").status == .done)
    #expect(folder.run("verify", "@new.annals").status == .done)
    let again = folder.run("salvage", "@new.annals", "@again.annals")
    #expect(again.status == .done && again.output.contains("nothing lost"), "\(again)")
  }

  /// An export tells of a gap and of what leads over it; an import makes transactions of that, an
  /// empty one for each lost number but the last, and no gap.
  @Test(
    arguments: ["relationships", "schema-evolution", "large-values", "updates-and-deletes"])
  func anImportedGapIsOrdinaryTransactionsWithTheSameStatesBehind(name: String) throws {
    let folder = try CommandFolder()
    let fixture = FixtureRecipe.folder.appending(path: "\(name).annals")
    try FileManager.default.copyItem(atPath: fixture.path, toPath: folder.file("f.annals"))
    var bytes = try Data(contentsOf: fixture)
    let dump = folder.run("dump", "@f.annals", "--format", "jsonl").output.split(separator: "\n")
    for number in [2, 3] {
      let line = try #require(
        dump.first {
          $0.contains(#""kind":"transaction""#)
            && $0.contains(#"{"name":"number","value":\#(number)}"#)
        })
      let match = try #require(try /"offset":(\d+)/.firstMatch(in: line))
      bytes[try #require(Int(match.1)) + 40] ^= 1
    }
    try bytes.write(to: URL(fileURLWithPath: folder.file("bad.annals")))
    #expect(folder.run("salvage", "@bad.annals", "@new.annals").status == .foundProblems)
    let new = try Store(path: folder.file("new.annals"), options: .readOnly)
    let head = new.token.number
    let gaps = try new.history().collect().filter { $0.lost != nil }
    #expect(gaps.map(\.lost?.numbers) == [2...3])

    try folder.write(folder.run("export", "@new.annals").output, to: "e.jsonl")
    let imported = folder.run("import", "@copy.annals", "@e.jsonl")
    try #require(imported.status == .done, "\(imported)")
    let copy = try Store(path: folder.file("copy.annals"), options: .readOnly)
    let transactions = try copy.history().collect()
    #expect(transactions.map(\.number) == Array(1...head))
    #expect(transactions.allSatisfy { $0.lost == nil })
    #expect(transactions[1].changes.count == 0)
    #expect(transactions[2].changes.count == gaps[0].changes.count)
    for number in [1] + Array(4...head) {
      let expected = folder.run("state", "@new.annals", "--at", "\(number)")
      #expect(expected.status == .done)
      #expect(folder.run("state", "@copy.annals", "--at", "\(number)").output == expected.output)
    }
    #expect(folder.run("verify", "@copy.annals").status == .done)
  }

  @Test func nothingIsOverwritten() throws {
    let folder = try damaged()
    let taken = folder.run("salvage", "@bad.annals", "@posts.annals")
    #expect(taken.status == .couldNotRun && taken.errors.contains("@posts.annals exists already"))
    #expect(folder.run("salvage", "@none.annals", "@out.annals").status == .couldNotRun)
    try folder.write("something else, which is long enough to be looked at", to: "text")
    let foreign = folder.run("salvage", "@text", "@out.annals")
    #expect(foreign.status == .couldNotRun && foreign.errors.contains("not an Annals store"))
    #expect(!FileManager.default.fileExists(atPath: folder.file("out.annals")))
    let whole = folder.run("salvage", "@posts.annals", "@out.annals")
    #expect(whole.status == .done && whole.output == "@out.annals: 4 transactions, nothing lost\n")
  }

  /// What was written last to a store that was not closed may be gone, and nothing would tell.
  @Test func aStoreThatWasNotClosedIsNotSaidToHaveLostNothing() throws {
    let folder = try CommandFolder()
    let store = try Store(path: folder.file("open.annals"), schema: Schema { Entity("Post") })
    try store.write { _ = try $0.insert("Post", [:]) }
    let salvaged = folder.run("salvage", "@open.annals", "@out.annals")
    #expect(salvaged.status == .done)
    #expect(
      salvaged.output == """
        @out.annals: 2 transactions, nothing lost as far as the file shows; it was not closed, \
        or its root slots are damaged, so what was written last may be gone without a trace

        """)
    try store.close()
    let closed = folder.run("salvage", "@open.annals", "@again.annals")
    #expect(closed.output == "@again.annals: 2 transactions, nothing lost\n")
  }

  @Test(arguments: [4_096, 6_000, 8_192, 12_287])
  func aFileCutOffBeforeItsLogIsNotSaidToHaveLostNothing(length: Int) throws {
    let folder = try damaged()
    let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file("posts.annals")))
    try bytes.prefix(length).write(to: URL(fileURLWithPath: folder.file("cut.annals")))
    let run = folder.run("salvage", "@cut.annals", "@out.annals")
    #expect(run.status == .foundProblems && !run.output.contains("nothing lost"), "\(run)")
    let isTold = ["perhaps lost: every transaction", "lost: "].contains { run.output.hasPrefix($0) }
    #expect(isTold, "\(run)")
  }

  /// A real history, a few blocks of whose file are overwritten: what is said to be lost is gone,
  /// and everything else is as it was.
  @Test(
    .realHistories,
    arguments: ["sp500-records", "graveyard-records", "gemoji-records"], [false, true])
  func realHistories(name: String, isCompacted: Bool) throws {
    let folder = try CommandFolder()
    let histories = try #require(HistoryTests.folder)
    _ = folder.run(["import", "@h.annals", "\(histories)/\(name).jsonl.gz"])
    if isCompacted { folder.run("compact", "@h.annals") }
    var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file("h.annals")))
    for share in [3, 5, 7] {
      let start = 12_288 + (bytes.count - 12_288) * share / 10
      for index in start..<min(bytes.count, start + 512) { bytes[index] = UInt8(index & 0xFF) }
    }
    try bytes.write(to: URL(fileURLWithPath: folder.file("bad.annals")))
    let salvaged = folder.run("salvage", "@bad.annals", "@new.annals")
    #expect(salvaged.status != .couldNotRun, "\(salvaged)")
    #expect(folder.run("verify", "@new.annals").status == .done, "\(salvaged.output)")
    let store = try Store(path: folder.file("new.annals"), options: .readOnly)
    let old = try Store(path: folder.file("h.annals"), options: .readOnly)
    let gaps = try store.history().collect().compactMap(\.lost)
    let lost = Set(gaps.flatMap { Array($0.numbers) })
    #expect(store.token.number == old.token.number)
    #expect(try store.history().count() == Int(old.token.number) - lost.count)
    func lines(_ name: String) -> [String] {
      let log = folder.run("log", name, "--format", "jsonl", "--reverse")
      #expect(log.status == .done && log.errors == "")
      return log.output.split(separator: "\n").map(String.init)
    }
    let kept = lines("@new.annals").filter { !$0.contains(#""lost":{"first""#) }
    let expected = lines("@h.annals").enumerated().filter { !lost.contains(Int64($0.offset) + 1) }
    #expect(kept.count == expected.count)
    var differing = 0
    for (line, other) in zip(kept, expected) where line != other.element { differing += 1 }
    // Keys of objects that an update names by row alone may have been lost with their insert.
    #expect(differing == 0 || !lost.isEmpty)
    let firstGap = gaps.first { !$0.isExact }?.first ?? .max
    for number in stride(from: Int64(1), to: min(firstGap, old.token.number), by: 97) {
      if lost.contains(number) { continue }
      #expect(
        folder.run("state", "@new.annals", "--at", "\(number)").output
          == folder.run("state", "@h.annals", "--at", "\(number)").output, "\(number)")
    }
  }
}
