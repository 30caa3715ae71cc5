import Annals
import AnnalsReplication
import AnnalsTestSupport
import Testing

private struct Trip: Record {
  var title: String
  var price: Int
  static let entity = RecordEntity(
    "Trip", Trip.init, Property("title", \.title), Property("price", \.price))
}

/// The code of *Writing while the log is away*.
@Suite struct OfflineTests {
  @Test func aPhoneInATunnel() async throws {
    let folder = try TemporaryFolder()
    let log = InMemorySharedLog()
    var options = ReplicaOptions()
    options.deadline = .milliseconds(200)
    options.follows = false
    let phone = try await Replica.open(
      path: folder.path("phone.annals"), records: Trip.self, log: log, options: options)
    let alps = try await phone.write { tx in try tx.insert(Trip(title: "Alps", price: 100)) }
    try await phone.write(author: "bob") { tx in try tx.update(alps) { $0.price = 105 } }
    options.deadline = .seconds(600)
    let office = try await Replica.open(
      path: folder.path("office.annals"), records: Trip.self, log: log, options: options)
    log.isReachable = false
    let write = try await phone.write(author: "ann", offline: .outbox) { tx in
      try tx.update(alps) { $0.title = "Alps by night" }
      return try tx.insert(Trip(title: "Sea", price: 80))
    }
    switch write {
    case .committed(let commit): print("everybody has it", commit.token)
    case .waiting(let item, let trip): print("draft", item.number, "waits", trip.value.title)
    }
    // draft 1 waits Sea
    let shown = try await phone.snapshot(including: .outbox)
    print(try shown.objects(of: Trip.self).map(\.value.title))  // ["Alps by night", "Sea"]
    print(try phone.store.snapshot().objects(of: Trip.self).map(\.value.title))  // ["Alps"]
    try await phone.write(offline: .outbox) { tx in
      try tx.update(Trip.self, write.value.objectID) { $0.price = 75 }
    }
    print(phone.status.outbox.count, phone.status.outbox.byteCount < 10_000)  // 2 true
    #expect(try shown.objects(of: Trip.self).map(\.value.title) == ["Alps by night", "Sea"])
    #expect(try phone.store.snapshot().objects(of: Trip.self).map(\.value.title) == ["Alps"])
    #expect(phone.status.outbox.count == 2 && phone.status.outbox.byteCount < 10_000)
    try await phone.undo(author: "bob", offline: .outbox)
    let before = try await phone.snapshot(including: .outbox).objects(of: Trip.self)
    print(before[0].value.price)  // 100
    try await phone.discard(try await phone.outboxItems()[2])
    #expect(before[0].value.price == 100)
    log.isReachable = true
    try await office.write { tx in try tx.update(alps) { $0.price = 120 } }
    let report = try await phone.sendOutbox()
    print(report.sent.map(\.item.number))  // [1, 2]
    let trips = try phone.store.snapshot().objects(of: Trip.self)
    print(trips.map { "\($0.value.title) \($0.value.price)" })
    // ["Alps by night 120", "Sea 75"]
    let found = trips.map { "\($0.value.title) \($0.value.price)" }
    #expect(found == ["Alps by night 120", "Sea 75"] && report.sent.map(\.item.number) == [1, 2])
    let sea = phone.currentID(of: write.value.objectID)
    print(sea == write.value.objectID, sea.map { $0.row } ?? 0)  // false 2
    #expect(sea?.row == 2)
    try await phone.write(offline: .outboxFirst) { tx in
      try tx.update(alps) { $0.price = 90 }
    }
    try await office.write { tx in try tx.update(alps) { $0.price = 150 } }
    if let item = try await phone.sendOutbox().conflicted {
      print(item.conflict?.message ?? "")
      for conflict in item.conflict?.conflicts ?? [] {
        print(conflict.property ?? "", conflict.stored ?? .null, conflict.own ?? .null)
      }
      print(try await phone.changes(of: item).count)  // 1
      try await phone.retry(item, merging: .ownWins)
    }
    try await phone.sendOutbox()
    print(try phone.store.snapshot().objects(of: Trip.self)[0].value.price)  // 90
    #expect(try phone.store.snapshot().objects(of: Trip.self)[0].value.price == 90)
    #expect(phone.status.outbox.count == 0)
    for replica in [phone, office] { try await replica.close() }
  }
}
