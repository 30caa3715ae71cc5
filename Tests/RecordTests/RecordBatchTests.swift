import Annals
import AnnalsTestSupport
import Foundation
import Testing

/// More properties than there are initialisers for.
private struct Wide: Record, Equatable {
  var a: Int?, b: Int?, c: Int?, d: Int?, e: Int?, f: Int?, g: Int?, h: Int?, i: Int?, j: Int?
  var k: Int?, l: Int?, m: Int?, n: Int?, o: Int?, p: Int?
  var last: String
  static let entity = RecordEntity(
    "Wide", Wide.init,
    Property("a", \.a), Property("b", \.b), Property("c", \.c), Property("d", \.d),
    Property("e", \.e), Property("f", \.f), Property("g", \.g), Property("h", \.h),
    Property("i", \.i), Property("j", \.j), Property("k", \.k), Property("l", \.l),
    Property("m", \.m), Property("n", \.n), Property("o", \.o), Property("p", \.p),
    Property("last", \.last))

  init(
    a: Int?, b: Int?, c: Int?, d: Int?, e: Int?, f: Int?, g: Int?, h: Int?, i: Int?, j: Int?,
    k: Int?, l: Int?, m: Int?, n: Int?, o: Int?, p: Int?, last: String
  ) {
    (self.a, self.b, self.c, self.d, self.e, self.f) = (a, b, c, d, e, f)
    (self.g, self.h, self.i, self.j, self.k, self.l) = (g, h, i, j, k, l)
    (self.m, self.n, self.o, self.p, self.last) = (m, n, o, p, last)
  }

  init(_ number: Int) {
    let even = number % 2 == 0 ? number : nil
    self.init(
      a: number, b: even, c: 1, d: nil, e: 2, f: even, g: 3, h: 4, i: 5, j: 6, k: 7, l: 8, m: 9,
      n: nil, o: 10, p: -number, last: "the text of number \(number)")
  }
}

private struct Sample: Record, Equatable {
  enum Kind: String, AttributeValue, CaseIterable { case low, high }

  var key: UUID
  var date: Date
  var text: String
  var note: String?
  var kind: Kind
  var count: Int32?
  var share: Double?
  var isNew: Bool
  var bytes: Data?
  var link: URL?
  static let entity = RecordEntity(
    "Sample", Sample.init, Property("key", \.key), Property("date", \.date).indexed(),
    Property("text", \.text), Property("note", \.note), Property("kind", \.kind),
    Property("count", \.count), Property("share", \.share), Property("isNew", \.isNew),
    Property("bytes", \.bytes), Property("link", \.link))

  init(
    key: UUID, date: Date, text: String, note: String?, kind: Kind, count: Int32?, share: Double?,
    isNew: Bool, bytes: Data?, link: URL?
  ) {
    (self.key, self.date, self.text, self.note, self.kind) = (key, date, text, note, kind)
    (self.count, self.share, self.isNew) = (count, share, isNew)
    (self.bytes, self.link) = (bytes, link)
  }

  init(_ random: inout SeededRandom) {
    func maybe<V>(_ value: V) -> V? { random.draw(4) == 0 ? nil : value }
    // Above 64 KB a value is kept elsewhere.
    let length = random.draw(200) == 0 ? 70_000 : random.draw(60)
    key = UUID()
    date = Date(timeIntervalSince1970: Double(random.draw(1_000)))
    text = String(repeating: "x", count: random.draw(40))
    note = maybe("note \(random.draw(5)), which is longer than a word")
    kind = Kind.allCases[random.draw(2)]
    count = maybe(Int32(random.draw(1_000)) - 500)
    share = maybe(Double(random.draw(100)) / 7)
    isNew = random.draw(2) == 0
    bytes = maybe(Data(repeating: 7, count: length))
    link = maybe(URL(string: "https://example.com/\(random.draw(99))")).flatMap { $0 }
  }
}

/// Many records are read some at a time, from leaves of many rows.
@Suite struct RecordBatchTests {
  @Test(arguments: [0, 1, 31, 32, 33, 65, 1_200]) func moreThanSixteenProperties(
    _ count: Int
  ) throws {
    let store = try Store(.memory, records: Wide.self)
    let records = (0..<count).map(Wide.init)
    try store.write { tx in for record in records { try tx.insert(record) } }
    #expect(try store.snapshot().fetch(Fetch(Wide.self)).map(\.value) == records)
  }

  @Test(arguments: 1...4) func eachFetchReadsWhatOneObjectReads(_ seed: Int) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.annals")
    var random = SeededRandom(seed: UInt64(seed))
    var wanted: [ObjectID: Sample] = [:]
    var store = try Store(path: path, records: Sample.self)
    for _ in 0..<3 {
      try store.write { tx in
        for _ in 0..<random.draw(3_000) {
          let object = try tx.insert(Sample(&random))
          wanted[object.objectID] = object.value
        }
        for id in wanted.keys.sorted(by: { $0.row < $1.row }) where random.draw(5) == 0 {
          try tx.delete(id)
          wanted[id] = nil
        }
      }
      // Opened again, columns are read from a checkpoint.
      try store.close()
      store = try Store(path: path, records: Sample.self)
      let snapshot = store.snapshot()
      let ids = wanted.keys.sorted { ($0.row) < ($1.row) }
      for limit in [3, 200, 1_500, nil] {
        let fetch = Fetch(Sample.self).sorted(by: \.date).limit(limit).offset(random.draw(50))
        let found = try snapshot.fetch(fetch)
        for object in found { #expect(object.value == wanted[object.objectID]) }
        #expect(try snapshot.values(fetch, \.link, \.key).map(\.1) == found.map(\.key))
        #expect(try snapshot.values(fetch, \.link, \.key).map(\.0) == found.map(\.link))
      }
      #expect(try snapshot.objects(of: Sample.self).map(\.objectID) == ids)
      for id in ids.prefix(300) {
        #expect(try snapshot.object(Sample.self, id)?.value == wanted[id])
      }
    }
    try store.close()
  }

  private struct Strict: Record {
    var name: String
    var mark: Int
    static let entity = RecordEntity(
      "Strict", Strict.init, Property("name", \.name), Property("mark", \.mark))
  }

  @Test(arguments: [1, 2, 32, 33, 40, 1_100]) func aRecordThatCannotBeReadEndsTheFetch(
    _ place: Int64
  ) throws {
    let schema = Schema {
      Entity("Strict") {
        Attribute("name", .string)
        Attribute("mark", .int64)
      }
    }
    let store = try Store(.memory, schema: schema)
    try store.write { tx in
      for row in 1...Int64(1_200) {
        let mark: Value = row == place ? .null : .int(row)
        let name = "a name that takes memory of its own, \(row)"
        _ = try tx.insert("Strict", ["name": .string(name), "mark": mark])
      }
    }
    let snapshot = store.snapshot()
    for limit in [Int(place), 1_200] {
      let error = #expect(throws: AnnalsError.self) {
        try snapshot.fetch(Fetch(Strict.self).limit(limit))
      }
      #expect(error?.code == .unreadableRecord)
      #expect(error?.description.contains("mark") == true)
    }
    #expect(try snapshot.fetch(Fetch(Strict.self).limit(Int(place) - 1)).count == Int(place) - 1)
  }
}
