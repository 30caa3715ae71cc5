import Annals
import AnnalsModel
import AnnalsReplication
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

private struct Person: Record {
  var first: String
  var last: String
  static let entity = RecordEntity(
    "Person", Person.init, Property("first", \.first), Property("last", \.last).indexed())
}

/// A migration is made once, by whichever replica comes first, and travels.
@Suite struct ReplicaMigrationTests {
  private static let migrations = [
    Migration("split the name") { tx in
      for person in try tx.objects(of: "Person") {
        let name = person["name"].as(String.self) ?? ""
        let parts = name.split(separator: " ", maxSplits: 1).map { Value(String($0)) }
        try tx.update(person.id, ["first": parts.first ?? "", "last": parts.last ?? ""])
      }
      try tx.remove("Person", "name")
    },
    Migration("initials") { tx in
      for person in try tx.objects(of: Person.self) {
        try tx.update(person) { $0.first = String($0.first.prefix(1)) }
      }
    },
  ]

  @Test func aMigrationIsMadeOnce() async throws {
    let log = InMemorySharedLog()
    let places = (0..<3).map {
      StoreLocation(fileSystem: MemoryFileSystem(), path: "/\($0).annals")
    }
    let before = Schema { Entity("Person") { Attribute("name", .string) } }
    let old = try await Replica.open(
      places[0], schema: before, log: log, options: ReplicaWorld.options)
    try await old.write { tx in
      _ = try tx.insert("Person", ["name": "Ada Lovelace"])
      _ = try tx.insert("Person", ["name": "Alan Turing"])
    }
    var replicas: [Replica] = []
    for place in places[1...] {
      replicas.append(
        try await Replica.open(
          place, records: Person.self, log: log, migrations: Self.migrations,
          options: ReplicaWorld.options))
    }
    try await old.catchUp()
    replicas.append(old)
    for replica in replicas { try await replica.catchUp() }
    try expectEqualStores(replicas.map(\.store))
    for replica in replicas { try expectRemade(replica, log) }
    let people = try old.store.snapshot().objects(of: "Person").map { $0["last"] }
    #expect(people == ["Lovelace", "Turing"])
    #expect(log.contents.last == 4)
    for replica in replicas {
      #expect(replica.store.migrations.map(\.name) == ["split the name", "initials"])
    }
  }

  private final class Told: Sendable {
    let list = Locked<[OpeningProgress]>([])
  }

  /// As the opening of a store does, that of a replica tells of the migration that it makes.
  @Test func theOpeningNamesTheMigration() async throws {
    let log = InMemorySharedLog()
    let before = Schema { Entity("Person") { Attribute("name", .string) } }
    let old = try await Replica.open(
      .memory, schema: before, log: log, options: ReplicaWorld.options)
    try await old.write { tx in _ = try tx.insert("Person", ["name": "Ada Lovelace"]) }
    let told = Told()
    var options = ReplicaWorld.options
    options.store.progress = { next in told.list.withLock { $0.append(next) } }
    let replica = try await Replica.open(
      .memory, records: Person.self, log: log, migrations: Self.migrations, options: options)
    #expect(replica.store.migrations.map(\.name) == ["split the name", "initials"])
    let names = told.list.withLock { $0.filter { $0.work == .migrating }.map(\.migration) }
    #expect(names.first == "split the name" && names.last == "initials")
    #expect(!names.contains(nil))
  }

  @Test func aNewLogHasMadeAll() async throws {
    let log = InMemorySharedLog()
    let replica = try await Replica.open(
      .memory, records: Person.self, log: log, migrations: Self.migrations,
      options: ReplicaWorld.options)
    #expect(replica.store.migrations.map(\.name) == ["split the name", "initials"])
    #expect(log.contents.last == 1)
  }
}
