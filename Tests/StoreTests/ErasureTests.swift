import Annals
import AnnalsEngine
import AnnalsExchange
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import AnnalsTorture
import Foundation
import Testing

/// What is erased is nowhere in the file any more, and all else is as it was.
@Suite struct ErasureTests {
  private static let path = "/people.annals"

  private static let schema = Schema {
    Entity("Person", displayName: "name") {
      Attribute("id", .string, isOptional: false, isUnique: true, isPreservedAfterDeletion: true)
      Attribute("name", .string, isOptional: false)
      Attribute("mail", .uuid, isUnique: true)
      Attribute("letter", .string)
      Attribute("picture", .data)
      Attribute("nick", .any)
      Attribute("age", .int64)
      Relationship("friends", to: "Person", isToMany: true, isOrdered: true)
      Relationship("best", to: "Person")
      IndexDescription("byName", ["name", "age"])
      IndexDescription("byNick", ["nick"])
      IndexDescription("named", ["name"], where: .compare("age", .greater, .int(20)))
    }
  }

  /// Random work on people, one of which has needles wherever it has values.
  private final class Work {
    let files = MemoryFileSystem()
    let store: Store
    var random: SeededRandom
    var people: [ObjectID] = []
    let victim: ObjectID
    private var count = 0

    init(seed: UInt64) throws {
      random = SeededRandom(seed: seed)
      store = try Store(
        StoreLocation(fileSystem: files, path: ErasureTests.path), schema: ErasureTests.schema,
        environment: .fixed(seed: seed))
      var made: ObjectID?
      let values = ErasureTests.needles(0)
      try store.write(author: "ann") { made = try $0.insert("Person", values) }
      victim = try #require(made)
      people = [victim]
    }

    func work(_ steps: Int) throws {
      for _ in 0..<steps {
        do {
          try store.write(author: random.chance(50) ? "ann" : "ben") { tx in
            for _ in 0..<random.number(1...4) { try step(tx) }
          }
        } catch let error as AnnalsError where error.code == .invalidChange {
          // A friend was deleted behind it.
        }
      }
    }

    /// Enough at once that it takes several frames, the victim among it.
    func big() throws {
      let filler = String(repeating: "some words ", count: 40)
      try store.write { tx in
        for number in 0..<700 {
          count += 1
          people.append(
            try tx.insert(
              "Person",
              [
                "id": .string("big \(count)"), "name": .string("\(filler) \(number)"),
                "age": .int(Int64(number)),
              ]))
        }
        if try tx.object(victim) != nil { try tx.update(victim, ErasureTests.needles(count)) }
      }
    }

    private func step(_ tx: WriteTransaction) throws {
      count += 1
      let other = people[random.number(0...people.count - 1)]
      switch random.number(0...9) {
      case 0..<3:
        people.append(try tx.insert("Person", values()))
      case 3..<6:
        if try tx.object(other) != nil, other != victim { try tx.update(other, values()) }
      case 6:
        if try tx.object(other) != nil, other != victim, people.count > 5 { try tx.delete(other) }
      default:
        guard try tx.object(victim) != nil else { return }
        var values = ErasureTests.needles(count).filter { _ in random.chance(50) }
        let list = people.shuffled(using: &random).prefix(random.number(0...4))
        values["friends"] = .objects(list.map { ObjectReference($0) })
        values["best"] = random.chance(50) ? .null : .object(ObjectReference(other))
        if random.chance(20) { values["letter"] = .null }
        if try list.allSatisfy({ try tx.object($0) != nil }), try tx.object(other) != nil {
          try tx.update(victim, values)
        }
      }
    }

    private func values() -> [String: Value] {
      [
        "id": .string("person \(count)"), "name": .string("name \(random.number(0...30))"),
        "age": .int(Int64(random.number(0...60))),
        "letter": .string(
          String(repeating: "dear \(count) ", count: random.chance(20) ? 700 : 3)),
        "nick": random.chance(50) ? .int(Int64(count)) : .string("nick \(count)"),
      ]
    }

    /// The objects but the victim, as of each transaction.
    func states() throws -> [Int64: [String]] {
      var result: [Int64: [String]] = [:]
      // Of a large store some have to do.
      let step = people.count > 500 ? 9 : 1
      let numbers = max(1, store.base.number)...store.token.number
      for number in stride(from: numbers.lowerBound, through: numbers.upperBound, by: step) {
        result[number] = try store.snapshot(at: number).objects(of: "Person")
          .filter { $0.objectID != victim }.map { "\($0.objectID.row) \($0.values)" }
      }
      return result
    }
  }

  private static let needle = "n33dLe-Z"
  private static let uuid = RawUUID(high: 0x6E33_644C_652D_5A31, low: 0)

  /// Values of which each holds the needle.
  private static func needles(_ number: Int) -> [String: Value] {
    [
      "id": .string("\(number)\(needle)"), "name": .string("the \(needle) \(number)"),
      "mail": .uuid(RawUUID(high: uuid.high, low: UInt64(number))),
      "letter": .string(
        String(repeating: "\(needle) \(number) ", count: number % 3 == 0 ? 500 : 2)),
      "picture": .data(Array("\(number)\(needle)".utf8)),
      "nick": number % 2 == 0 ? .json("[\"\(needle)\",\(number)]") : .url("x:\(needle)\(number)"),
      "age": .int(Int64(number % 50)),
    ]
  }

  /// How often a needle is in the bytes of a file, as they are and inflated wherever they can be.
  static func needleCount(_ files: MemoryFileSystem, _ path: String = path) throws -> Int {
    let contents = try FileContents(try files.open(path, for: .reading))
    return contents.count(of: needle)
      + contents.count(of: withUnsafeBytes(of: uuid.high.bigEndian) { Array($0) })
  }

  /// How often a text is there in the same way.
  static func count(
    of text: String, in files: MemoryFileSystem, _ path: String
  ) throws -> Int {
    try FileContents(try files.open(path, for: .reading)).count(of: text)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func nothingIsLeft(seed: UInt64) throws {
    let work = try Work(seed: seed)
    try work.work(40)
    if seed == 2 { try work.big() }
    try work.store.compact()
    if seed != 3 { try work.store.prune(work.store.prunePlan(before: 12)) }
    try work.work(30)
    try work.store.checkpoint()
    if seed == 1 { try work.store.write { try $0.delete(work.victim) } }
    try work.work(20)
    let before = try work.states()
    #expect(try ErasureTests.needleCount(work.files) > 20)
    let head = work.store.token.number
    let summary = try work.store.erase(work.victim, reason: "she asked for it", author: "ann")
    #expect(summary.token.number == head + 1)
    try check(work, before)
    // And on from there.
    try work.work(10)
    try work.store.compact(smallest: seed == 1)
    try work.store.prune(work.store.prunePlan(before: 20))
    try work.work(5)
    #expect(try work.store.verifyHistory().filter { $0.severity != .note }.isEmpty)
    try work.store.close()
    #expect(try ErasureTests.needleCount(work.files) == 0)
    #expect(
      try work.files.findings(about: ErasureTests.path).filter { $0.severity != .note }.isEmpty)
  }

  /// Large blocks are copied as they are if they are not about the object: they say which rows they
  /// are about, from the first to the last.
  @Test func theFirstAndTheLastRowOfALargeBlock() throws {
    var random = SeededRandom(seed: 3)
    let noise = (0..<20).map { _ in
      String((0..<3_000).map { _ in Character(Unicode.Scalar(UInt8(random.number(35...122)))) })
    }
    for place in [0, 19] {
      let files = MemoryFileSystem()
      let store = try Store(
        StoreLocation(fileSystem: files, path: ErasureTests.path), schema: ErasureTests.schema,
        environment: .fixed(seed: 3))
      var people: [ObjectID] = []
      for number in noise.indices {
        let values: [String: Value] = [
          "id": .string("\(number)"), "name": "someone", "letter": .string(noise[number]),
        ]
        people.append(
          try store.write {
            try $0.insert("Person", number == place ? ErasureTests.needles(1) : values)
          })
      }
      try store.compact()
      #expect(try ErasureTests.needleCount(files) > 0)
      try store.erase(people[place], reason: "r")
      #expect(try ErasureTests.needleCount(files) == 0)
      #expect(try store.verifyHistory().filter { $0.severity != .note }.isEmpty)
    }
  }

  /// A list that is made of nothing is so in what is erased, though its object had one before it
  /// was deleted.
  @Test func listsOfAnObjectThatCameBack() throws {
    let work = try Work(seed: 2)
    let store = work.store
    let people = try store.write { tx in
      try (0..<3).map { try tx.insert("Person", ["id": .string("p\($0)"), "name": "someone"]) }
    }
    let list = Value.objects(people.map { ObjectReference($0) })
    let empty = store.token
    try store.write { try $0.update(work.victim, ["friends": list]) }
    try store.write { try $0.delete(work.victim) }
    try store.revert(store.token)
    try store.write { try $0.update(work.victim, ["friends": .objects([])]) }
    try store.write { try $0.delete(work.victim) }
    try store.revert(store.token)
    try store.write { try $0.update(work.victim, ["friends": list]) }
    let last = store.token
    try store.erase(work.victim, properties: ["friends"], reason: "r")
    func before(_ number: Int64) throws -> Value? {
      try store.transaction(number).changes[0].before("friends")
    }
    #expect(try before(empty.number + 1) == .null)
    #expect(try before(last.number) == .null)
    #expect(try store.verifyHistory().filter { $0.severity != .note }.isEmpty)
  }

  private func check(_ work: Work, _ before: [Int64: [String]]) throws {
    #expect(try ErasureTests.needleCount(work.files) == 0)
    var after = try work.states()
    after[work.store.token.number] = nil
    #expect(after == before)
    for number in before.keys.sorted() {
      let snapshot = try work.store.snapshot(at: number)
      guard let victim = try snapshot.object(work.victim) else { continue }
      #expect(victim.values.allSatisfy { $0.value.isErased })
      #expect(victim["name"] == .erased)
    }
    #expect(try work.store.snapshot().object(work.victim) == nil)
    #expect(try work.store.verifyHistory().filter { $0.severity != .note }.isEmpty)
    let findings = try work.files.findings(about: ErasureTests.path)
    #expect(findings.filter { $0.severity != .note }.isEmpty, "\(findings)")
  }

  /// A property alone: the rest of the object stays, in all states.
  @Test func aProperty() throws {
    let work = try Work(seed: 9)
    try work.work(30)
    try work.store.compact()
    try work.store.prune(work.store.prunePlan(before: 9))
    try work.work(20)
    let others = try work.states()
    func ages() throws -> [Int64: Value] {
      var result: [Int64: Value] = [:]
      for number in work.store.base.number...work.store.token.number {
        result[number] = try work.store.snapshot(at: number).object(work.victim)?["age"]
      }
      return result
    }
    let before = try ages()
    let names = ["id", "name", "mail", "letter", "picture", "nick", "friends"]
    try work.store.erase(work.victim, properties: names, reason: "told too much")
    #expect(try ErasureTests.needleCount(work.files) == 0)
    var after = try ages()
    after[work.store.token.number] = nil
    #expect(after == before)
    var rest = try work.states()
    rest[work.store.token.number] = nil
    #expect(rest == others)
    let object = try #require(try work.store.snapshot().object(work.victim))
    #expect(object["name"] == .erased && object["id"] == .erased)
    // Another may take what was its key, and it may get a new one.
    try work.store.write { tx in
      try tx.update(work.victim, ["id": .string("new"), "friends": .objects([])])
      _ = try tx.insert("Person", ErasureTests.needles(0))
    }
    let updated = try #require(try work.store.snapshot().object(work.victim))
    #expect(updated["id"] == .string("new") && updated["name"] == .erased)
    #expect(try work.store.verifyHistory().filter { $0.severity != .note }.isEmpty)
    #expect(throws: AnnalsError.self) {
      try work.store.write { try $0.update(work.victim, ["name": .erased]) }
    }
    #expect(throws: AnnalsError.self) { try work.store.revert(work.store.token) }
  }

  /// What is exported has erased values, and what is imported has them again.
  @Test func exportAndImport() throws {
    let work = try Work(seed: 4)
    try work.work(25)
    try work.store.erase(work.victim, properties: ["id", "name", "friends"], reason: "r")
    try work.work(2)
    var text: ContiguousArray<UInt8> = []
    var export = HistoryExport(work.store, after: 0, through: work.store.token.number)
    try export.write { text += $0 }
    let place = memoryFile()
    func imported(_ text: some Sequence<UInt8>) throws -> Store {
      let reading = HistoryImport(
        MemorySource(text), into: place, options: .deferred, environment: .fixed(seed: 2))
      while try reading.next() {}
      return try #require(reading.store)
    }
    let copy = try imported(text)
    func canonical(_ store: Store) throws -> String {
      var bytes: ContiguousArray<UInt8> = []
      var state = CanonicalState(store.snapshot())
      try state.write { bytes += $0 }
      return String(decoding: bytes, as: UTF8.self)
    }
    let state = try canonical(work.store)
    #expect(String(decoding: text, as: UTF8.self).contains(#"{"$erased":true}"#))
    #expect(try canonical(copy) == state)
    // What the export says of the erasure is the transaction's again, and holds.
    func erasures(_ store: Store) throws -> [Int64: Erasure] {
      var result: [Int64: Erasure] = [:]
      try store.history().forEach { result[$0.number] = $0.erasure }
      return result
    }
    #expect(try erasures(copy) == erasures(work.store) && erasures(copy).count == 1)
    let erasing = try #require(try erasures(copy).keys.first)
    #expect(try copy.transaction(erasing).metadata == [:])
    let findings = try copy.verifyHistory().filter { $0.severity != .note }.map(\.message)
    #expect(findings == [])
    // In a store that has more, its rows are others: there it is metadata.
    try copy.close()
    let line = try #require(
      String(decoding: text, as: UTF8.self).split(separator: "\n").first {
        $0.contains(#""erased":{"reason""#)
      })
    let start = try #require(line.range(of: ",\"changes\":")).lowerBound
    let more = try imported(Array((line[..<start] + ",\"changes\":[]}\n").utf8))
    #expect(try erasures(more).count == 1)
    #expect(try more.transaction(more.token.number).metadata["erased"] != nil)
  }

  /// An erasure that was recorded alone is found by what the base has, too; removed values count.
  @Test(arguments: [["age"], ["name", "letter"], []])
  func theBaseIsLookedAtForWhatIsLeft(properties: [String]) throws {
    let work = try Work(seed: 7)
    try work.store.write { try $0.update(work.victim, ["age": 3, "letter": "dear"]) }
    try work.store.prune(work.store.prunePlan(before: work.store.token.number))
    try work.store.edit(.removeProperty(entity: "Person", "letter"))
    let entity = try #require(work.store.schema.entity(named: "Person"))
    let numbers = entity.attributes.filter { properties.contains($0.name) }.map(\.number)
    var origin = TransactionOrigin(author: "ann")
    origin.isAlwaysRecorded = true
    origin.note(
      Erasure([Erasure.Target(ObjectReference(work.victim), properties: numbers)], reason: "r"))
    _ = try work.store.commitTransaction(origin) { _ in }
    let base = work.store.base.number
    #expect(base > 0)
    #expect(try work.store.version.unfinishedErasures().map(\.found) == [base])
    try work.store.erase(work.victim, reason: "again")
    #expect(try work.store.version.unfinishedErasures().isEmpty)
  }

  /// Another opening of the file goes on, and so does what follows its history.
  @Test func anotherOpeningFollows() throws {
    let work = try Work(seed: 5)
    try work.work(10)
    let other = try Store(
      StoreLocation(fileSystem: work.files, path: ErasureTests.path),
      environment: .fixed(seed: 6))
    let token = other.token
    let kept = other.snapshot()
    try work.store.erase(work.victim, reason: "r")
    #expect(try kept.object(work.victim)?["name"] != .erased)
    try other.refresh()
    let following = try other.history(after: token).collect(limit: 10)
    #expect(following.count == 1)
    #expect(following[0].erasure?.reason == "r")
    #expect(following[0].changes[0].properties.allSatisfy { $0.before.isErased })
    try other.write { _ = try $0.insert("Person", ["id": .string("x"), "name": .string("y")]) }
    #expect(try work.store.snapshot(at: 2).objects(of: "Person").first?["name"] == .erased)
  }

  /// What a base remembers of deletes that a consumer has not seen.
  @Test func tombstonesLoseIt() throws {
    let work = try Work(seed: 8)
    try work.work(8)
    let consumer = try work.store.consumer("sync", blocking: true)
    _ = consumer
    try work.store.write { tx in
      try tx.update(work.victim, ErasureTests.needles(3))
      try tx.delete(work.people[1])
    }
    try work.store.write { try $0.delete(work.victim) }
    try work.work(4)
    try work.store.prune(work.store.prunePlan(before: work.store.token.number), force: true)
    let remembered = try work.store.version.view.tombstones()?.count ?? 0
    #expect(remembered >= 2)
    #expect(try ErasureTests.needleCount(work.files) > 0)
    try work.store.erase(work.victim, reason: "r")
    #expect(try ErasureTests.needleCount(work.files) == 0)
    #expect(try work.store.version.view.tombstones()?.count == remembered)
    #expect(try work.store.verifyHistory().filter { $0.severity != .note }.isEmpty)
    let findings = try work.files.findings(about: ErasureTests.path)
    #expect(findings.filter { $0.severity != .note }.isEmpty, "\(findings)")
  }

  @Test func whatCannotBeErased() throws {
    let work = try Work(seed: 6)
    let head = work.store.token
    let unknown = ObjectID(store: work.victim.store, entity: 1, row: 9_999)
    for body: () throws -> Void in [
      { try work.store.erase(unknown, reason: "r") },
      { try work.store.erase(work.victim, reason: "") },
      { try work.store.erase(work.victim, properties: ["nme"], reason: "r") },
      { try work.store.erase(work.victim, properties: [], reason: "r") },
      { try work.store.erase([], reason: "r") },
    ] {
      #expect(throws: AnnalsError.self) { try body() }
    }
    #expect(work.store.token == head)
  }
}
