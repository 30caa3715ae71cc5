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

  /// What `stat` says of each list, on a store with so many entities, authors and consumers.
  @Test(arguments: [1, 4, 5, 6, 7, 8, 9, 10, 17]) func listsOfStat(_ count: Int) throws {
    let folder = try CommandFolder()
    let entities = (1...count).map {
      Entity("E\($0)", attributes: [Attribute("a", .int64)])
    }
    let store = try Store(
      path: folder.file("s.annals"), schema: Schema(entities: entities),
      environment: folder.store)
    for number in 1...count {
      try store.write(author: "w\(number)") { tx in
        for value in 0..<number { try tx.insert("E\(number)", ["a": .int(Int64(value))]) }
      }
      _ = try store.consumer("c\(number)", startingAfter: Int64(number))
    }
    try store.close()
    let stat = lines(folder.run("stat", "@s.annals").output)
    func told(_ name: String) -> String {
      let line = stat.first { $0.hasPrefix(name.padded(right: 14)) } ?? ""
      return String(line.dropFirst(14))
    }
    func list(_ most: Int, _ total: Int, _ separator: String, _ text: (Int) -> String) -> String {
      let more = total > most ? "\(separator)… \(total - most) more" : ""
      return (0..<min(most, total)).map(text).joined(separator: separator) + more
    }
    let objects = list(8, count, ", ") { "E\(count - $0) \(count - $0)" }
    #expect(told("objects") == "\(count * (count + 1) / 2): \(objects)", "\(stat)")
    let consumers = told("consumers").replacing(#/c\d+ at \d+(, \w+)?/#, with: "C")
    #expect(consumers == "\(count): " + list(8, count, "; ") { _ in "C" }, "\(stat)")
    // The transaction with the schema has no author.
    let authors = told("authors").replacing(#/(w\d+|\(none\)) 1/#, with: "W")
    #expect(authors == "\(count + 1): " + list(5, count + 1, ", ") { _ in "W" }, "\(stat)")
    let shares = stat.drop { !$0.hasPrefix("bytes by property") }.dropFirst()
    // One for each entity, and one for its attribute.
    let total = 2 * count
    #expect(shares.count == min(total, 8) + (total > 8 ? 1 : 0), "\(stat)")
    let rest = shares.last.map { $0.contains("… \(total - 8) more ") } ?? false
    #expect(rest == (total > 8), "\(stat)")
    // The greatest come first, so of the others none has more than the last of them.
    let sizes = shares.map { line -> Double in
      let found = line.firstMatch(of: #/ ([0-9.,]+) (bytes?|kB) +[0-9.]+%/#)
      let number = found.flatMap { Double($0.1.replacing(",", with: "")) } ?? -1
      return found?.2 == "kB" ? number * 1_000 : number
    }
    #expect(sizes.prefix(8).elementsEqual(sizes.prefix(8).sorted(by: >)) && !sizes.contains(-1))
    if total > 8 {
      #expect(sizes[8] <= Double(total - 8) * (sizes[7] + 50) && sizes[8] > 0, "\(stat)")
    }
    for (line, size) in zip(shares.prefix(8), sizes) where !line.contains("kB") {
      let parts = line.matches(of: #/([0-9,]+) bytes?(,|$)/#).compactMap { Double($0.1) }
      #expect(parts.count == 3 && parts.reduce(0, +) == size, "\(line)")
    }
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
