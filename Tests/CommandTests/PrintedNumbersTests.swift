import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsCommand

/// Every number that a verb prints about a random store is what was worked out beside it.
@Suite struct PrintedNumbersTests {
  private static let seeds: ClosedRange<UInt64> = 1...3

  private func lines(_ text: String) -> [Substring] { text.split(separator: "\n") }

  @Test(arguments: seeds) func ofHistory(_ seed: UInt64) throws {
    let world = try NumbersWorld(seed: seed)
    let (folder, head) = (world.folder, world.head)
    let oneline = lines(folder.run("log", "@n.annals", "--oneline").output)
    try #require(oneline.count == head)
    let blocks = folder.run("log", "@n.annals").output.components(separatedBy: "\n\n")
    for number in 2...head {
      let count = world.transactions[number].changes.count
      let line = oneline[head - number]
      #expect(line.hasPrefix("\(number)  "))
      let more = count > 1 ? " and \(count - 1) more" : ""
      #expect(line.hasSuffix(more) && (count > 1 || !line.hasSuffix("more")), "\(line)")
      let block = lines(blocks[head - number])
      let marks = block.count { ["    + ", "    ~ ", "    - "].contains($0.prefix(6)) }
      #expect(block.first?.hasPrefix("transaction \(number)  ") == true)
      #expect(marks == (count > 5 ? 3 : count), "\(block)")
      let rest = block.filter { $0.hasPrefix("    … ") }
      let text = "    … \(count - 3) more: annals show @n.annals \(number)"
      #expect(rest == (count > 5 ? [text[...]] : []), "\(block)")
      let shown = lines(folder.run("show", "@n.annals", "\(number)").output)
      for (mark, kind) in [("+", ChangeKind.insert), ("~", .update), ("-", .delete)] {
        let found = shown.count { $0.hasPrefix("    \(mark) ") }
        #expect(found == world.transactions[number].count(kind), "\(shown)")
      }
    }
    for limit in [0, 1, 2, head - 1, head, head + 1] {
      for format in [["--oneline"], ["--format", "jsonl"], ["--format", "jsonl", "--reverse"]] {
        let found = lines(folder.run(["log", "@n.annals", "-n", "\(limit)"] + format).output)
        #expect(found.count == min(limit, head), "\(limit) \(format)")
      }
      let text = folder.run("log", "@n.annals", "-n", "\(limit)").output
      #expect(lines(text).count { $0.hasPrefix("transaction ") } == min(limit, head))
    }
    for first in [0, 1, head / 2, head - 1, head] {
      for last in [1, head / 2, head] where first < last {
        let objects = Set(world.states[first].keys).union(world.states[last].keys)
        let different = objects.count { world.states[first][$0] != world.states[last][$0] }
        for (a, b) in [(first, last), (last, first)] {
          let found = folder.run("diff", "@n.annals", "\(a)", "\(b)", "--format", "jsonl")
          #expect(lines(found.output).count == different, "\(a)..\(b)")
          // A deleted object has the name that it had.
          let text = lines(folder.run("diff", "@n.annals", "\(a)", "\(b)").output)
            .filter { !$0.hasPrefix("    ") }.map { $0.split(separator: "  ").first ?? "" }
          let wanted = objects.compactMap { name -> String? in
            let (old, new) = (world.states[a][name], world.states[b][name])
            if old == new { return nil }
            return "\(old == nil ? "+" : new == nil ? "-" : "~") \(name.text)"
          }
          #expect(text.map(String.init).sorted() == wanted.sorted(), "\(a)..\(b)")
        }
      }
    }
  }

  @Test(arguments: seeds) func ofObjects(_ seed: UInt64) throws {
    var world = try NumbersWorld(seed: seed)
    let folder = world.folder
    for _ in 0..<12 {
      let name = world.anyObject()
      let all = world.touching(name)
      let last = all.last ?? 0
      let isDeleted = world.state[name] == nil
      let blame = folder.run("blame", "@n.annals", name.text, "--format", "jsonl").output
      let rows = lines(blame)
      for property in ["a", "b", "id"] {
        // A deletion changes no property any more.
        let number = world.touching(name, [property]).last { !isDeleted || $0 != last } ?? 0
        let row = rows.first { $0.hasPrefix(#"{"property":"\#(property)","#) } ?? ""
        #expect(row.contains(#","n":\#(number),"#), "\(name): \(blame)")
        #expect(row.contains(#","deleted":\#(last)}"#) == isDeleted, "\(name): \(blame)")
      }
      let text = lines(folder.run("blame", "@n.annals", name.text).output).map {
        $0.split(separator: " ").first.map(String.init) ?? ""
      }
      let sets = rows.compactMap { $0.firstMatch(of: #/,"n":(\d+),/#).map { String($0.1) } }
      #expect(text == (isDeleted ? ["\(last)"] : []) + sets)
      let erasing = folder.run(
        "erase", "@n.annals", name.text, "--reason", "r", "--dry-run"
      ).output
      let whole = "\(name.entity)#\(world.row(name))"
      let had = "had, in \(counted(all.count, "transaction"))\n"
      #expect(
        erasing
          == (isDeleted
            ? "erases every value that \(whole) \(had)"
            : "deletes \(whole) and erases every value that it \(had)"))
      for properties in [["a"], ["b"], ["a", "b"], ["id"]] {
        let options = properties.flatMap { ["--property", $0] }
        let run = folder.run(
          ["erase", "@n.annals", name.text, "--reason", "r", "--dry-run"] + options)
        let count = world.touching(name, Set(properties)).count
        #expect(
          run.output == "erases \(properties.joined(separator: ", ")) of \(whole), now and in "
            + "\(counted(count, "transaction"))\n")
      }
      let shown = folder.run("show", "@n.annals", name.text, "--format", "jsonl").output
      #expect(lines(shown).count == all.count)
    }
  }

  @Test(arguments: seeds) func ofStates(_ seed: UInt64) throws {
    let world = try NumbersWorld(seed: seed)
    let folder = world.folder
    for number in [1, world.head / 2, world.head] {
      let state = world.states[number]
      let at = ["--at", "\(number)"]
      let all = folder.run(["state", "@n.annals"] + at)
      #expect(lines(all.output).count { $0.contains(#""entity":"#) } == state.count)
      let tables = lines(folder.run(["state", "@n.annals", "--format", "table"] + at).output)
      for entity in world.entities {
        let rows = state.filter { $0.key.entity == entity }.map(\.value)
        let heading = "\(entity)  \(counted(rows.count, "object"))"
        #expect(tables.contains(heading[...]) == !rows.isEmpty, "\(tables)")
        let query = ["query", "@n.annals", entity] + at
        #expect(folder.run(query + ["--count"]).output == "\(rows.count)\n")
        let some = folder.run(query + ["--where", "a >= 2", "--count"]).output
        #expect(some == "\(rows.count { ($0["a"] ?? 0) >= 2 })\n")
        for (limit, offset) in [(0, 0), (1, 0), (2, 1), (rows.count, 1), (99, rows.count)] {
          let part = folder.run(query + ["--limit", "\(limit)", "--offset", "\(offset)"]).output
          #expect(lines(part).count == max(0, min(limit, rows.count - offset)), "\(part)")
        }
        let groups = folder.run(
          query + ["--group-by", "a", "--sum", "b", "--maximum", "b", "--format", "csv"]
        ).output
        let values = Dictionary(grouping: rows) { $0["a"] ?? 0 }.sorted { $0.key < $1.key }
        let wanted = values.map { value, rows in
          let numbers = rows.compactMap { $0["b"] }
          return "\(value),\(rows.count),\(numbers.reduce(0, +)),\(numbers.max() ?? 0)"
        }
        #expect(lines(groups).dropFirst().map(String.init) == wanted, "\(groups)")
      }
    }
  }

  @Test(arguments: seeds) func ofTheFile(_ seed: UInt64) throws {
    let world = try NumbersWorld(seed: seed)
    let (folder, head) = (world.folder, world.head)
    let stat = folder.run("stat", "@n.annals").output
    let kinds = ChangeKind.allCases.map { kind in
      counted((1...head).reduce(0) { $0 + world.transactions[$1].count(kind) }, "\(kind)")
    }
    let objects = world.entities.map { entity in world.state.count { $0.key.entity == entity } }
      .sorted(by: >)
    let authors = Dictionary(grouping: world.transactions.dropFirst(), by: \.author)
      .map(\.value.count).sorted(by: >)
    func numbers(_ list: [Int], _ most: Int) -> String {
      let more = list.count > most ? ", … \(list.count - most) more" : ""
      return list.prefix(most).map { "NAME \($0)" }.joined(separator: ", ") + more
    }
    for (name, text) in [
      ("transactions", "\(head) (0 empty)"),
      ("changes", "\(world.changes(1...head)): \(kinds.joined(separator: ", "))"),
      ("objects", "\(world.state.count): \(numbers(objects, 8))"),
      ("authors", "\(authors.count): \(numbers(authors, 5))"),
      ("numbers", "base 0, head \(head)"),
    ] {
      let line = lines(stat).first { $0.hasPrefix(name + " ") } ?? ""
      let told = line.drop { $0 != " " }.drop { $0 == " " }
        .replacing(#/(E|author)\d+|last/#, with: "NAME")
      #expect(told == text, "\(stat)")
    }
    let verified = folder.run("verify", "@n.annals").output
    #expect(verified.hasPrefix("no problems: \(head) transactions, "))
  }

  @Test(arguments: seeds) func ofWhatIsDropped(_ seed: UInt64) throws {
    let world = try NumbersWorld(seed: seed)
    let (folder, head) = (world.folder, world.head)
    for number in [1, 2, head / 2, head] {
      let consumer = folder.run(
        "consumers", "@n.annals", "add", "c\(number)", "--kind", "k", "--after", "\(number)")
      #expect(consumer.output == "c\(number) has seen transaction \(number)\n")
      let dropped = number - 1
      let plan = folder.run("prune", "@n.annals", "--before", "\(number)", "--dry-run").output
      let drops =
        "drops \(counted(dropped, "transaction")) (1 to \(dropped)) with "
        + "\(counted(world.changes(1..<number), "change"))\n"
      let then =
        "\nafterwards: base \(dropped), floor \(number), head \(head); "
        + "\(counted(head - dropped, "transaction")) kept\n"
      #expect(
        number == 1
          ? plan == "there is no history before transaction 1\n"
          : plan.hasPrefix(drops) && plan.contains(then), "\(plan)")
      let kept = head - dropped
      let retained = folder.run("retain", "@n.annals", "--transactions", "\(kept)").output
      let what =
        "\(counted(dropped, "transaction")) before \(number), with "
        + "\(counted(world.changes(1..<number), "change"))\n"
      #expect(retained.hasPrefix("keeps \(counted(kept, "transaction"))\n"))
      #expect(retained.hasSuffix(number == 1 ? "\nnothing to drop\n" : what), "\(retained)")
      let replayed = folder.run(
        "replay", "@n.annals", "@r\(number).annals", "--to", "\(number)"
      ).output
      #expect(replayed.hasSuffix(", with \(counted(number, "transaction"))\n"), "\(replayed)")
    }
    let list = folder.run("consumers", "@n.annals").output
    let rows = lines(list).dropFirst().map {
      $0.split(separator: " ").prefix(5).joined(separator: " ")
    }
    let seen = Set([1, 2, head / 2, head])
    let wanted = seen.map { "c\($0) k \($0) \(head - $0) \(world.changes($0 + 1..<head + 1))" }
    #expect(rows.sorted() == wanted.sorted(), "\(list)")
    let before = MaintenanceText.size(of: folder.file("n.annals"))
    let compacted = folder.run("compact", "@n.annals").output
    let after = MaintenanceText.size(of: folder.file("n.annals"))
    let share = (Double(after) / Double(before) * 1000).rounded() / 10
    #expect(
      compacted.replacing(",", with: "") == "\(before) bytes became \(after) \(share)% of it\n",
      "\(compacted)")
  }

  @Test(arguments: seeds) func ofWhatIsTakenBack(_ seed: UInt64) throws {
    let world = try NumbersWorld(seed: seed)
    let (folder, head) = (world.folder, world.head)
    func deed(_ transaction: NumbersWorld.Transaction, _ isBack: Bool) -> String {
      let there = isBack ? ChangeKind.insert : .delete
      let back = isBack ? ChangeKind.delete : .insert
      let again = isBack ? "" : " again"
      return [
        (transaction.count(there), "deletes"),
        (transaction.count(.update), isBack ? "sets back" : "changes"),
        (transaction.count(back), isBack ? "revives" : "inserts"),
      ].filter { $0.0 > 0 }.map { "\($0.1) \(counted($0.0, "object"))\(again)" }
        .joined(separator: ", ")
    }
    for number in 1...head {
      let run = folder.run("revert", "@n.annals", "\(number)")
      guard !run.output.isEmpty else { continue }
      let text = "reverting transaction \(number) \(deed(world.transactions[number], true))\n"
      #expect(run.output == text)
    }
    let last = deed(world.transactions[head], true)
    let undone = "undoing transaction \(head) \(last)\n"
    for (options, more) in [(["--dry-run"], ""), ([], "transaction \(head + 1)\n")] {
      let run = folder.run(["undo", "@n.annals", "--author", "last"] + options)
      #expect(run.output == undone + more)
    }
    let redone = "redoing transaction \(head + 1) \(deed(world.transactions[head], false))\n"
    for (options, more) in [(["--dry-run"], ""), ([], "transaction \(head + 2)\n")] {
      let run = folder.run(["redo", "@n.annals", "--author", "last"] + options)
      #expect(run.output == redone + more)
    }
  }

  /// Lines without anything count as lines, and not as transactions.
  @Test(arguments: 1...5 as ClosedRange<UInt64>) func ofImports(_ seed: UInt64) throws {
    let folder = try CommandFolder()
    var random = SeededRandom(seed: seed)
    folder.run("put", "@n.annals", "Old/1", "a:=1")
    folder.run("put", "@n.annals", "Old/2", "a:=1")
    var text = ""
    var (line, last) = (0, 0)
    let count = [1, 2, 3, 5, 8][Int(seed) % 5]
    for number in 1...count {
      let empty = random.below(4)
      text += String(repeating: "\n", count: empty)
      line += empty + 1
      last = line
      text +=
        #"{"changes":[{"op":"insert","entity":"Old","id":"n\#(number)","set":{"a":\#(number)}}]}"#
        + "\n"
    }
    try folder.write(text, to: "good.jsonl")
    try folder.write(text + "\n\n{\n", to: "bad.jsonl")
    let good = folder.run("import", "@n.annals", "@good.jsonl")
    #expect(
      good.output
        == "imported \(counted(count, "transaction")); the newest is \(count + 2)\n", "\(good)")
    try folder.write(text.replacing(#""id":"n"#, with: #""id":"m"#) + "\n\n{\n", to: "bad.jsonl")
    let bad = folder.run("import", "@n.annals", "@bad.jsonl")
    #expect(bad.errors.contains("@bad.jsonl:\(line + 3): "), "\(bad)")
    let told =
      count == 1
      ? "1 transaction was imported, of line \(last)."
      : "\(count) transactions were imported, up to line \(last)."
    #expect(bad.errors.contains(told), "\(bad)")
    #expect(folder.run("state", "@n.annals").output.contains(#""id":"m\#(count)""#))
  }
}
