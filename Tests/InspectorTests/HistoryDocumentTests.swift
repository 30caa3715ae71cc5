import Annals
import AnnalsInspector
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

/// Documents about the history, compared with what the library says of it.
@Suite(.deadline) struct HistoryDocumentTests {
  private let world: InspectorWorld

  init() throws { world = try InspectorWorld() }

  @Test(arguments: ["time", "number"], [1, 7, 240])
  func density(by: String, buckets: Int) throws {
    let document = try world.ask(["by": by, "buckets": "\(buckets)"]).density()
    #expect(document.progress == 1 && document.buckets.count <= buckets)
    #expect(document.buckets.reduce(0) { $0 + $1.count } == world.count)
    try world.reading { store in
      var counts: [String: Int] = [:]
      try store.history().forEach { counts[$0.author ?? "", default: 0] += 1 }
      for (place, author) in document.authors.enumerated() {
        let sum = document.buckets.reduce(0) { $0 + $1.authors[place] }
        #expect(sum == counts[author ?? "?"])
      }
      #expect(document.authors.count == counts.count)
    }
    for (left, right) in zip(document.buckets, document.buckets.dropFirst()) {
      #expect(left.to == right.from)
    }
  }

  @Test func aStretchOfTheDensity() throws {
    let document = try world.ask(["by": "number", "from": "11", "to": "20", "buckets": "10"])
      .density()
    #expect(document.buckets.map(\.count) == Array(repeating: 1, count: 10))
    #expect(document.buckets.first?.first == 11 && document.buckets.last?.last == 20)
  }

  /// A number that is before or behind all is as any other there.
  @Test(arguments: [Int64.min, .min + 1, -1, 0, .max])
  func numbersAtTheEnds(_ number: Int64) throws {
    let text = "\(number)"
    let post = try world.ask(["entity": "Post", "limit": "1"]).table().rows[0].object.id
    let count = number == .max ? world.count : 0
    #expect(try world.ask(["before": text]).tally().transactions == count)
    let page = try world.ask(["before": text, "limit": "500"]).transactions()
    #expect(page.transactions.count == count)
    let life = try world.ask(["object": post, "before": text]).life()
    #expect(life.versions.isEmpty == (count == 0))
    #expect(try world.ask(["after": text]).tally().transactions == world.count - count)
    for by in ["time", "number"] {
      let to = "\(Int64.max)"
      for buckets in ["1", "2", "240"] {
        let density = try world.ask(["by": by, "from": text, "buckets": buckets]).density()
        let all = try world.ask(["by": by, "from": text, "to": to, "buckets": buckets]).density()
        for document in [density, all] {
          let found = document.buckets.reduce(0) { $0 + $1.count }
          #expect(found == world.count - count, "\(by) \(buckets)")
          #expect(document.buckets.first?.from == number)
          for (left, right) in zip(document.buckets, document.buckets.dropFirst()) {
            #expect(left.to == right.from && left.from < left.to)
          }
        }
      }
    }
  }

  private static let filters: [[String: String]] = [
    [:], ["author": "ann"], ["entity": "Place"], ["property": "title"], ["type": "delete"],
    ["context": "seven"], ["text": "FIVE"], ["author": "ben", "entity": "Post"],
  ]

  /// Pages backward and forward have the same transactions as the library's history.
  @Test(arguments: filters)
  func transactions(filter: [String: String]) throws {
    let expected = try world.reading { store in
      var condition = HistoryCondition.always
      if let author = filter["author"] { condition = condition && .author == author }
      if let entity = filter["entity"] { condition = condition && .touches(entity) }
      if let name = filter["property"] { condition = condition && .touches(property: name) }
      if filter["type"] != nil { condition = condition && .kind(.delete) }
      if filter["context"] != nil { condition = condition && .context == "seven" }
      return try store.history(where: condition).collect().filter { transaction in
        guard filter["text"] != nil else { return true }
        return "\(transaction.metadata["message"] ?? .null)".contains("five")
      }.map(\.number)
    }
    var (found, before) = ([Int64](), nil as Int64?)
    repeat {
      var parameters = filter.merging(["limit": "7"]) { $1 }
      parameters["before"] = before.map { "\($0)" }
      let page = try world.ask(parameters).transactions()
      found += page.transactions.map(\.header.number)
      before = page.older
    } while before != nil
    #expect(found == expected.reversed())
    var (forward, after) = ([Int64](), 0 as Int64?)
    while let next = after {
      let parameters = filter.merging(["limit": "7", "after": "\(next)"]) { $1 }
      let page = try world.ask(parameters).transactions()
      forward += page.transactions.map(\.header.number).reversed()
      after = page.newer
    }
    #expect(forward == expected)
  }

  @Test func aTransactionWhole() throws {
    try world.reading { store in
      try store.history().forEach { transaction in
        let document = try world.ask(["number": "\(transaction.number)"]).transaction()
        #expect(document.total == transaction.changes.count)
        #expect(document.header.author == transaction.author)
        #expect(document.changes.map(\.kind) == transaction.changes.map { "\($0.kind)" })
        for (shown, change) in zip(document.changes, transaction.changes) {
          #expect(shown.object.row == change.objectID.row)
          #expect(shown.properties.map(\.property) == change.properties.map(\.name))
          for (difference, property) in zip(shown.properties, change.properties)
          where property.name == "rank" {
            #expect((difference.after?.text ?? "") == property.after.plainText)
            #expect((difference.before?.text ?? "") == property.before.plainText)
          }
        }
      }
    }
  }

  @Test func theLifeOfEachObject() throws {
    try world.reading { store in
      let ids = try store.history(where: .touches("Post")).objectIDs()
        .filter { $0.entity == 2 }
      for id in ids {
        let expected = try store.history(of: id).collect().map(\.number)
        let life = try world.ask(["object": "Post#\(id.row)"]).life()
        #expect(life.versions.map(\.header.number) == expected.reversed())
        #expect(life.versions.allSatisfy { $0.change?.object.row == id.row })
        let object = try world.ask(["object": "Post#\(id.row)"]).object()
        #expect(try object.exists == (store.snapshot().object(id) != nil))
        #expect(object.object.name.hasPrefix("Post/x"), "a deleted object has lost its name")
      }
    }
  }

  @Test(arguments: [(0, 60), (10, 50), (50, 10), (33, 33)])
  func difference(from: Int, to: Int) throws {
    try world.reading { store in
      let expected = try store.diff(from: from, to: to).changes
      let document = try world.ask(["from": "\(from)", "to": "\(to)", "limit": "500"]).difference()
      #expect(document.total == expected.count)
      #expect(document.changes.map(\.object.row) == expected.map(\.objectID.row))
      #expect(document.changes.map(\.kind) == expected.map { "\($0.kind)" })
      for counts in document.entities {
        let own = expected.filter { $0.entityName == counts.entity }
        #expect(counts.inserts == own.filter { $0.kind == .insert }.count)
        #expect(counts.updates + counts.deletes == own.filter { $0.kind != .insert }.count)
      }
    }
  }

  /// Where the answer changes once, the bisection finds where; and it asks few states.
  @Test func sinceWhen() throws {
    try world.reading { store in
      let posts = try store.history(where: .touches("Post")).objectIDs().filter { $0.entity == 2 }
      for id in posts.prefix(12) {
        let history = try store.history(of: id).collect()
        let isThere = try store.snapshot().object(id) != nil
        // A deleted object was there and is not: at both ends it is not.
        guard isThere else { continue }
        let document = try world.ask(["object": "Post#\(id.row)"]).since()
        #expect(document.holds && document.became?.number == history.first?.number)
        #expect(document.states <= 10)
        #expect(document.changes.first?.kind == "insert")
      }
    }
    let count = try world.ask(["entity": "Post", "count": ">=10"]).since()
    let first = try #require(count.became?.number)
    for probe in count.probes { #expect(probe.holds == (probe.count ?? 0 >= 10)) }
    let counts = try world.reading { store in
      try [first - 1, first].map { try store.snapshot(at: $0).count(of: "Post") }
    }
    #expect(counts[0] < 10 && counts[1] >= 10)
  }

  /// Of one object's properties it is the last change that led to what is so at the end, however
  /// often the answer changed before.
  @Test func sinceWhenOfOneObject() throws {
    let world = try InspectorWorld(transactions: 3, seed: 9)
    var random = SeededRandom(seed: 9)
    var answers = [Bool](repeating: false, count: world.count + 1)
    var object: ObjectID?
    try world.write { store in
      for step in 0..<40 {
        let isOther = step > 0 && random.chance(30)
        let rank = random.chance(50) ? Value.null : .int(Int64(step))
        try store.write { tx in
          if let object {
            try tx.update(object, isOther ? ["title": .string("\(step)")] : ["rank": rank])
          } else {
            object = try tx.insert("Post", ["id": "own", "rank": rank])
          }
        }
        // To set what is there records nothing.
        guard store.token.number == answers.count else { continue }
        answers.append(isOther ? answers[answers.count - 1] : rank != .null)
      }
    }
    let row = try #require(object).row
    for end in world.count - 30..<answers.count {
      let parameters = ["object": "Post#\(row)", "where": "rank != nil", "at": "\(end)"]
      let document = try world.ask(parameters).since()
      let expected = answers[0...end].lastIndex { $0 != answers[end] }.map { Int64($0 + 1) }
      #expect(document.holds == answers[end])
      #expect(document.became?.number == expected, "at \(end)")
    }
  }

  /// What is counted of a filter is what its pages have.
  @Test(arguments: filters)
  func tally(filter: [String: String]) throws {
    let document = try world.ask(filter).tally()
    var (entries, before) = ([TransactionsDocument.Entry](), nil as Int64?)
    repeat {
      var parameters = filter
      parameters["before"] = before.map { "\($0)" }
      let page = try world.ask(parameters).transactions()
      entries += page.transactions
      before = page.older
    } while before != nil
    #expect(document.reached == nil && document.transactions == entries.count)
    #expect(document.changes == entries.reduce(0) { $0 + $1.matching })
    #expect(document.authors.reduce(0) { $0 + $1.transactions } == entries.count)
    for author in document.authors {
      let own = entries.filter { $0.header.author == author.author }
      #expect(own.count == author.transactions)
      #expect(own.reduce(0) { $0 + $1.matching } == author.changes)
    }
    let kinds = document.entities.reduce(0) { $0 + $1.inserts + $1.updates + $1.deletes }
    #expect(kinds == document.changes)
    let some = try world.ask(filter.merging(["before": "30", "after": "10"]) { $1 }).tally()
    #expect(some.transactions == entries.count { (11...29).contains($0.header.number) })
  }

  /// A year is a date among the filters; the command has its months.
  @Test func yearsAsDates() throws {
    let first = try world.reading { try $0.history().collect()[0].moment }
    let year = "\(first)".prefix(4)
    let all = try world.ask(["since": String(year)]).tally()
    #expect(all.transactions == world.count)
    #expect(all.command.contains("--since \(year)-01"))
    #expect(try world.ask(["until": "1971"]).tally().transactions == 0)
  }

  /// Of a count it is the last change that led to what is so at the end, however often it went to
  /// and fro before.
  @Test(arguments: [nil, "rank != nil", "rank > 3 or title contains \"a\"", "place == nil"])
  func sinceWhenOfACount(condition: String?) throws {
    let counts = try (0...Int64(world.count)).map { number in
      let parameters = ["entity": "Post", "where": condition, "at": "\(number)", "limit": "1"]
      if number == 0 { return 0 }
      return try world.ask(parameters.compactMapValues { $0 }).table().total
    }
    let most = try #require(counts.max())
    var changes = 0
    for wanted in [0, most / 3, most / 2, most - 1] {
      let answers = counts.map { $0 > wanted }
      for end in stride(from: 1, through: world.count, by: 3) {
        var parameters = ["entity": "Post", "count": ">\(wanted)", "at": "\(end)"]
        parameters["where"] = condition
        let document = try world.ask(parameters).since()
        let expected = answers[0...end].lastIndex { $0 != answers[end] }.map { Int64($0 + 1) }
        #expect(document.holds == answers[end])
        // Which objects others refer to is bisected.
        guard condition != "place == nil" else {
          #expect(!document.isExact || document.became?.number == expected)
          continue
        }
        #expect(document.isExact && document.became?.number == expected, ">\(wanted) at \(end)")
        changes += expected == nil ? 0 : 1
      }
    }
    #expect(condition == "place == nil" || changes > 20)
  }

  /// What a lost transaction has changed is not known.
  @Test func sinceWhenBesideLostTransactions() throws {
    try Data(contentsOf: fixture("salvaged")).write(to: URL(fileURLWithPath: world.path))
    let never = try world.ask(["entity": "Folder", "count": "==0"]).since()
    #expect(never.holds && never.became == nil && !never.isExact)
    let since = try world.ask(["entity": "Note", "count": ">0"]).since()
    #expect(since.holds && since.became?.number == 2 && !since.isExact)
    let later = try world.ask(["entity": "Note", "count": ">5"]).since()
    #expect(later.holds && later.became?.number == 7 && later.isExact)
  }

  /// A state made from a near one is the state.
  @Test func nearStates() throws {
    let numbers = [40, 41, 39, 20, 22, 18, 60, 58, 1, 2, 3]
    for number in numbers {
      let page = try world.ask(
        ["entity": "Post", "at": "\(number)", "limit": "500", "sort": "id"]
      ).table()
      try world.reading { store in
        let fetch = DynamicFetch("Post").sorted(by: SortKey(PropertyPath("id")))
        let expected = try store.snapshot(at: number).fetch(fetch)
        #expect(page.rows.map(\.object.row) == expected.map(\.objectID.row))
        let ranks = page.columns.firstIndex { $0.name == "rank" } ?? 0
        #expect(
          page.rows.map { $0.values[ranks].text } == expected.map { $0["rank"].plainText })
      }
    }
  }

  @Test func timeline() throws {
    let document = try world.ask(["entity": "Post", "start": "day", "group": "place"]).timeline()
    let count = try world.reading { try $0.snapshot().count(of: "Post") }
    #expect(document.total == count)
    #expect(document.rowTotal == document.total)
    #expect(document.bars.map(\.startUs) == document.bars.map(\.startUs).sorted())
    for bar in document.bars {
      let group = try #require(bar.group ?? document.lanes.indices.last)
      #expect(bar.lane < document.lanes[group])
    }
    let lives = try world.ask(["lifetimes": "1", "entity": "Post"]).timeline()
    #expect(lives.total >= document.total)
    let none = try world.ask().timeline()
    #expect(none.suggestions?.entities.first?.starts == ["when", "day"])
  }

  @Test func schemaAndItsGrowth() throws {
    var grown = InspectorWorld.schema
    grown.entities[1].attributes.append(Attribute("extra", .double))
    try Store.with(path: world.path, schema: grown) { _ in }
    let document = try world.ask().schema()
    #expect(document.entities.map(\.name) == ["Place", "Post"])
    #expect(document.growth.count == 2)
    #expect(document.growth.last?.lines == ["schema of Post", "    + extra: double"])
    let early = try world.ask(["at": "5"]).schema()
    #expect(early.entities.last?.attributes.contains { $0.name == "extra" } == false)
  }
}
