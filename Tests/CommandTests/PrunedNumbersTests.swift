import Annals
import AnnalsModel
import Foundation
import Testing

@testable import AnnalsCommand

/// What verbs print of a store whose history was pruned, worked out beside it: nothing of before
/// the base, and everything behind it.
@Suite struct PrunedNumbersTests {
  private func lines(_ text: String) -> [Substring] { text.split(separator: "\n") }

  @Test(arguments: 1...2 as ClosedRange<UInt64>) func ofAPrunedStore(_ seed: UInt64) throws {
    var world = try NumbersWorld(seed: seed)
    let (folder, head) = (world.folder, world.head)
    for floor in [2, head / 2, head] {
      let run = folder.run("prune", "@n.annals", "--before", "\(floor)", "--yes")
      #expect(run.status == .done, "\(run)")
      let base = floor - 1
      let kept = Array(floor...head)
      let log = lines(folder.run("log", "@n.annals", "--oneline").output)
      let numbers = log.map { Int($0.prefix { $0 != " " }) ?? 0 }
      #expect(numbers == kept.reversed())
      let stat = folder.run("stat", "@n.annals").output
      #expect(stat.contains("base \(base), head \(head)"), "\(stat)")
      let sums = (transactions: kept.count, changes: world.changes(kept))
      #expect(stat.contains("transactions  \(sums.transactions) (0 empty)"), "\(stat)")
      #expect(stat.contains("changes       \(sums.changes): "), "\(stat)")
      for number in Set([base, floor, (floor + head) / 2, head]) where number >= max(base, 1) {
        let out = "@r\(floor)-\(number).annals"
        let text = folder.run("replay", "@n.annals", out, "--to", "\(number)").output
        let some = Numerals.counted(number - base, "transaction")
        #expect(
          text.hasSuffix(": the state as of transaction \(number), with \(some)\n"), "\(text)")
        let objects = lines(folder.run("state", out).output).count { $0.contains(#""entity":"#) }
        #expect(objects == world.states[number].count, "\(number)")
        let objectsOf = world.states[base].filter { world.states[number][$0.key] != $0.value }
        let added = world.states[number].keys.filter { world.states[base][$0] == nil }
        let diff = lines(
          folder.run("diff", "@n.annals", "base", "\(number)", "--format", "jsonl").output)
        #expect(diff.count == objectsOf.count + added.count, "\(base)..\(number)")
      }
      for _ in 0..<6 {
        let name = world.anyObject()
        let seen = world.touching(name).filter { $0 > base }
        let shown = folder.run("show", "@n.annals", name.text, "--format", "jsonl")
        if world.states[base][name] == nil, seen.isEmpty { continue }
        #expect(lines(shown.output).count == seen.count, "\(name), floor \(floor): \(shown)")
        let blame = folder.run("blame", "@n.annals", name.text, "--format", "jsonl").output
        let isDeleted = world.state[name] == nil
        if isDeleted { continue }
        for property in ["a", "b"] {
          let last = world.touching(name, [property]).last ?? 0
          let row = lines(blame).first { $0.hasPrefix(#"{"property":"\#(property)","#) } ?? ""
          #expect(row.contains(#","n":\#(last),"#) == (last > base), "\(name): \(blame)")
          #expect(row.contains(#","n":"#) == (last > base), "\(name): \(blame)")
        }
      }
      #expect(folder.run("verify", "@n.annals").output.hasPrefix("no problems: "))
    }
  }

  /// The indexes that a transaction adds, as `show` and `log` tell them.
  @Test(arguments: [
    ("a", "a"), ("-a", "-a"), ("a,-b", "a,-b"), ("-a,-b,id", "-a,-b,id"),
    ("id,-a", "unique id,-a"),
  ])
  func theKeysOfAnIndex(_ keys: String, _ text: String) throws {
    let folder = try CommandFolder()
    folder.run("put", "@i.annals", "E/x", "a:=1", "b:=2")
    let unique = text.hasPrefix("unique") ? ["--unique"] : []
    let added = folder.run(["index", "@i.annals", "add", "E", "i"] + unique + ["--", keys])
    #expect(added.status == .done, "\(added)")
    let number = added.output.split(separator: " ").last.map { $0.dropLast() } ?? ""
    for words in [["show", "@i.annals", String(number)], ["log", "@i.annals", "-n", "1"]] {
      let output = folder.run(words).output
      #expect(output.contains("+ index i: \(text)\n"), "\(output)")
    }
    folder.run("index", "@i.annals", "drop", "E", "i")
    #expect(folder.run("log", "@i.annals", "-n", "1").output.contains("- index i\n"))
  }
}
