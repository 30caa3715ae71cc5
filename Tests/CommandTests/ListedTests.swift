import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsCommand

/// Lists in the output that are cut, with how many are left out: below the limit, at it, beyond.
@Suite struct ListedTests {
  private func lines(_ text: String) -> [String] {
    text.split(separator: "\n").map(String.init)
  }

  /// What was removed from a list, put into it and moved in it: five of each, and how many more.
  @Test(arguments: [1, 4, 5, 6, 7]) func editsOfAList(_ count: Int) throws {
    let folder = try CommandFolder()
    let store = try Store(
      path: folder.file("t.annals"),
      schema: Schema {
        Entity("Stop") { Attribute("name", .string, isOptional: false, isUnique: true) }
        Entity("Trip") {
          Attribute("name", .string, isOptional: false, isUnique: true)
          Relationship("stops", to: "Stop", isToMany: true, isOrdered: true)
        }
      }, environment: folder.store)
    func name(_ letter: String, _ number: Int) -> String { "\(letter)\(number)" }
    let numbers = Array(1...count)
    let (trip, stops) = try store.write { tx in
      var stops: [String: ObjectReference] = [:]
      // As many that stay as are moved, and more.
      for letter in ["s", "r", "m", "n"] {
        for number in 1...count * 2 {
          let text = name(letter, number)
          stops[text] = ObjectReference(try tx.insert("Stop", ["name": .string(text)]))
        }
      }
      return (try tx.insert("Trip", ["name": "t"]), stops)
    }
    func set(_ names: [String]) throws {
      try store.write { tx in
        try tx.update(trip, ["stops": .objects(names.compactMap { stops[$0] })])
      }
    }
    let staying = (1...count * 2).map { name("s", $0) }
    let moved = numbers.map { name("m", $0) }
    let removed = numbers.map { name("r", $0) }
    let inserted = numbers.map { name("n", $0) }
    for (first, second, parts) in [
      (staying + removed, staying, [removed.count, 0, 0]),
      (staying, staying + inserted, [0, inserted.count, 0]),
      (staying + moved, moved + staying, [0, 0, moved.count]),
      (staying + removed + moved, moved + staying + inserted, [count, count, count]),
    ] {
      try set(first)
      try set(second)
      let line = try #require(
        lines(folder.run("log", "@t.annals", "-n", "1").output).first { $0.contains("stops: ") })
      let minus = line.matches(of: #/-Stop\//#).count
      let plus = line.matches(of: #/\+Stop\//#).count
      let moves = line.matches(of: #/Stop\/m(\d+) moved from (\d+) to (\d+)/#)
      #expect([minus, plus, moves.count] == parts.map { min($0, 5) }, "\(line)")
      for move in moves {
        let stop = name("m", Int(move.1) ?? 0)
        let places = [first, second].map { ($0.firstIndex(of: stop) ?? -1) + 1 }
        #expect([Int(move.2), Int(move.3)] == places, "\(line)")
      }
      let more = parts.reduce(0) { $0 + max(0, $1 - 5) }
      #expect(line.hasSuffix("… \(more) more") == (more > 0), "\(line)")
      #expect(line.contains(" more") == (more > 0), "\(line)")
    }
    try store.close()
  }

  /// Half a percent of the file is the least gain that is told as a share.
  @Test func aGainIsLittleBelowHalfAPercent() throws {
    var random = SeededRandom(seed: 7)
    let bytes = (0..<200_000).map { _ in UInt8(random.below(256)) }
    var isTold: [Bool: Int] = [:]
    for count in 0...11 {
      let folder = try CommandFolder()
      let store = try Store(
        path: folder.file("c.annals"),
        schema: Schema {
          Entity("Note") {
            Attribute("data", .data)
            Attribute("count", .int64)
          }
        }, environment: folder.store)
      let note = try store.write { try $0.insert("Note", ["data": .data(bytes)]) }
      try store.close()
      folder.run("compact", "@c.annals")
      let again = try Store(path: folder.file("c.annals"), environment: folder.store)
      for number in 0..<count * 3 {
        try again.write { try $0.update(note, ["count": .int(Int64(number))]) }
      }
      try again.close()
      let before = MaintenanceText.size(of: folder.file("c.annals"))
      let output = folder.run("compact", "@c.annals").output
      let after = MaintenanceText.size(of: folder.file("c.annals"))
      guard after < before else { continue }
      let gain = before - after
      let isLittle = gain * 200 < before
      if gain * 400 >= before, gain * 100 < before { isTold[isLittle, default: 0] += 1 }
      let start = "\(Numerals.counted(before, "byte")) became \(Numerals.grouped(after))"
      #expect(
        output
          == (isLittle
            ? "\(start): there was hardly anything to gain\n"
            : "\(start), \(Numerals.share(after, of: before)) of it\n"),
        "\(count): \(output)")
    }
    #expect(isTold[true] ?? 0 > 0 && isTold[false] ?? 0 > 0, "\(isTold)")
  }
}
