import Annals
import AnnalsTestSupport
import Foundation
import Testing

private struct Note: Record {
  var title: String
  var views: Int
  var made: Date
  var parent: Reference<Note>?
  var tags: [Reference<Note>]
  static let entity = RecordEntity(
    "Note", Note.init, Property("title", \.title), Property("views", \.views),
    Property("made", \.made), Property("parent", \.parent), Property("tags", \.tags))

  static let fog = Note(title: "Fog", views: 3, made: .distantPast, parent: nil, tags: [])
}

private func measure(_ body: () throws -> Void) rethrows { try body() }
private func measured<T>(_ body: () throws -> T) rethrows -> T { try body() }
private func measureAwaiting(_ body: () async throws -> Void) async rethrows { try await body() }
private func onTap(_ action: () -> Void) { action() }
private func text(_ items: Any...) -> String { items.map { "\($0)" }.joined(separator: " ") }

/// Calls as people write them. The test is that they compile: a generic result, a closure's only
/// expression and overloads easily make a line that the compiler cannot read, and cannot explain.
@Suite struct NaturalUsesTests {
  let store: Store
  private let fog: Object<Note>

  init() throws {
    let store = try Store(.memory, records: Note.self)
    fog = try store.write { try $0.insert(Note.fog) }
    self.store = store
  }

  @Test func aWriteIsTheOnlyExpressionOfAClosure() throws {
    try measure { try store.write { tx in try tx.insert(Note.fog) } }
    try measure { try store.write { try $0.insert(Note.fog) } }
    try measure { try store.write(author: "me") { tx in try tx.update(fog) { $0.views += 1 } } }
    try measure { try store.write { tx in try tx.update(Note.self, fog.id) { $0.views += 1 } } }
    try measure {
      try store.write { try $0.update(Note.self, where: \.views > 0) { $0.views += 1 } }
    }
    try measure { try store.write { tx in try tx.save(fog) } }
    try measure { try store.write { tx in try tx.save(Note.fog, as: fog.id) } }
    try measure { try store.write { tx in try tx.set(\.title, of: fog, to: "Dew") } }
    let values: [String: Value] = ["title": "", "views": 1, "made": .date(.now)]
    try measure { try store.write { tx in try tx.insert("Note", values) } }
    try measure { try store.write { tx in try tx.update(fog.id, ["title": "Fog"]) } }
    try measure { try store.write { tx in try tx.delete(Note.self, where: \.title == "") } }
    try measure { try store.commit { tx in try tx.insert(Note.fog) } }
    try measure { try measure { try store.write { try $0.insert(Note.fog) } } }
    try measure { try store.write { _ in } }
    onTap { _ = try? store.write { try $0.insert(Note.fog) } }
    let actions: [() throws -> Void] = [
      { try store.write { try $0.insert(Note.fog) } }, { try store.write { try $0.delete(fog) } },
    ]
    for action in actions { try action() }
    try [1, 2].forEach { _ in try store.write { try $0.insert(Note.fog) } }
    func insert() throws { try store.write { try $0.insert(Note.fog) } }
    try insert()
    let folder = try TemporaryFolder()
    try measure {
      try Store.with(path: folder.path("a.annals"), records: Note.self) { store in
        try store.write { try $0.insert(Note.fog) }
      }
    }
    #expect(try store.snapshot().count(of: Note.self) == 9)
  }

  @Test func aWriteReturnsWhatItsClosureDoes() throws {
    let dew = try store.write { tx in try tx.insert(Note.fog) }
    let (a, b) = try store.write { tx in (try tx.insert(Note.fog), try tx.insert(Note.fog)) }
    let mist: Object<Note> = try measured { try store.write { try $0.insert(Note.fog) } }
    let rime = try measured { try measured { try store.write { try $0.insert(Note.fog) } } }
    let both = try store.write { tx in
      let first = try tx.insert(Note.fog)
      return (first, try tx.insert(Note.fog))
    }
    let many = try (1...3).map { _ in try store.write { try $0.insert(Note.fog) } }
    let maybe = try? store.write { try $0.insert(Note.fog) }
    let found: Object<Note> = try store.write { tx in
      if let known = try tx.fetch(Fetch(Note.self)).first { known } else { try tx.insert(.fog) }
    }
    let views = try store.write { tx in try tx.update(fog) { $0.views = 7 }.views + 1 }
    let count = try store.write { try $0.count(of: Note.self) }
    let number = try store.commit { try $0.insert(Note.fog) }.token.number
    func run<Result>(_ body: (WriteTransaction) throws -> Result) throws -> Result {
      try store.write(author: "me", body)
    }
    let ice = try run { try $0.insert(Note.fog) }
    try run { try $0.delete(ice) }
    let wait: (WriteTransaction) throws -> Void = { try $0.delete(mist) }
    try store.write(wait)
    let gone = try store.write { tx in try tx.delete(Note.self, where: \.title == "none") }
    let objects = [dew, a, b, rime, both.0, both.1, many[2], found] + (maybe.map { [$0] } ?? [])
    #expect(objects.allSatisfy { $0.title == "Fog" } && views == 8 && count == 12)
    #expect(number == 13 && gone == 0)
  }

  @Test func asynchronousWrites() async throws {
    let (store, fog) = (store, fog)
    try await measureAwaiting { try await store.write { tx in try tx.insert(Note.fog) } }
    try await measureAwaiting { try await store.write { try $0.update(fog) { $0.views = 1 } } }
    try await measureAwaiting { try await store.write { try $0.save(fog) } }
    try await measureAwaiting { try await store.commit { try $0.insert(Note.fog) } }
    let task = Task { try await store.write { try $0.insert(Note.fog) } }
    let quiet: Task<Void, any Error> = Task { try await store.write { try $0.insert(Note.fog) } }
    async let other = store.write { try $0.insert(Note.fog) }
    #expect(try await [task.value, other].map(\.title) == ["Fog", "Fog"])
    try await quiet.value
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<3 { group.addTask { try await store.write { try $0.insert(Note.fog) } } }
      group.addTask { try await store.write { try $0.delete(fog) } }
      try await group.waitForAll()
    }
    try await withThrowingTaskGroup(of: Object<Note>.self) { group in
      group.addTask { try await store.write { try $0.insert(Note.fog) } }
      for try await note in group { #expect(note.views == 3) }
    }
    #expect(try store.snapshot().count(of: Note.self) == 9)
  }

  @Test func resultsAsArguments() throws {
    let (snapshot, all) = (store.snapshot(), Fetch(Note.self))
    let counts = [
      text(try snapshot.groups(all, by: \.title).count),
      text(try snapshot.groups(all, by: .each(.day, of: \.made, in: .gmt)).count),
      text(try snapshot.groups(all, by: \.title, .sum(\.views)).count, "group"),
      text(try snapshot.groups(all, by: .value(\.title), .sum(\.views)).count),
      text(try snapshot.groups(all, by: \.title, .sum(\.views), .maximum(\.made)).count),
      "\(try snapshot.groups(all, by: \.parent, .count(of: \.title), .sum(\.views)).count)",
      text(try snapshot.groups(DynamicFetch("Note"), by: .value("title")).count),
      text(try snapshot.values(all, \.title).count),
      text(try snapshot.values(all, \.title, \.views).count),
      text(try snapshot.values(all, \.title, \.views, \.made).count),
      text(try snapshot.fetch(all).count), text(try snapshot.count(all)),
      text(try snapshot.objects(of: Note.self, where: \.views > 1).count),
    ]
    #expect(Set(counts) == ["1", "1 group"])
    #expect(try snapshot.groups(all, by: \.title).map(\.count) == [1])
    #expect(try snapshot.groups(all, by: \.title, .sum(\.views)).first?.values == 3)
    let two = try snapshot.groups(all, by: \.title, .sum(\.views), .minimum(\.views))[0].values.1
    #expect(two == 3)
    #expect(try snapshot.values(all, \.title) == ["Fog"])
    #expect(try snapshot.aggregate(all, .sum(\.views)) ?? 0 == 3)
    for group in try snapshot.groups(all, by: \.title, .sum(\.views), .average(\.views)) {
      #expect(group.values.0 == 3 && group.values.1 == 3)
    }
    let five = try snapshot.groups(
      all, by: \.title, .sum(\.views), .minimum(\.views), .maximum(\.views), .average(\.views),
      .count(of: \.made))
    #expect(five[0].values.4 == 1)
    #expect(try snapshot.values(all, \.title, \.views, \.views, \.views)[0].3 == 3)
  }
}
