import Annals
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsSalvage
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// What a consumer gets that was passed by a prune, or whose history is lost.
struct ResyncTests {
  private let lab = ConsumerLab()

  /// A store of some notes of which "n0" and "x", the latter with a mark, are deleted by
  /// transactions 8 and 9, pruned by force up to transaction 9, which "sync" has not seen.
  private func passed(_ mark: String? = nil) throws -> (store: Store, sync: Consumer) {
    let store = try lab.open(notes: 4)
    let last = try store.note("x")
    if let mark { try store.write { try $0.update(last, ["mark": .string(mark)]) } }
    let sync = try store.consumer("sync", blocking: true)
    try sync.advance(to: store.token(at: 5))
    if mark == nil { try store.note("y") }
    for object in [try #require(try store.snapshot().objects(of: "Note").first?.objectID), last] {
      try store.write(author: "ben") { try $0.delete(object) }
    }
    try store.note("later")
    try store.prune(store.prunePlan(before: Int64(10)), force: true)
    return (store, sync)
  }

  private func told(_ resync: Resync) throws -> [String] {
    var lines: [String] = []
    try resync.forEachTombstone { gone in
      lines.append(
        "\(gone.transactionNumber) \(gone.author ?? "-") \(gone.entityName)#\(gone.objectID.row) "
          + gone.tombstone.sorted { $0.key < $1.key }.map {
            "\($0.key)=\(ResyncTests.text($0.value))"
          }
          .joined(separator: ","))
    }
    return lines
  }

  private static func text(_ value: Value) -> String {
    if case .string(let text) = value { text } else { "\(value)" }
  }

  @Test func thePresentAndTheTombstones() throws {
    let (store, sync) = try passed()
    do {
      _ = try sync.history()
      Issue.record("history that was pruned")
    } catch {
      #expect(error.code == .pruned && error.gap?.oldestValid.number == 9)
      #expect(error.message.hasSuffix("The consumer `sync` continues with resync()"))
    }
    let resync = try sync.resync()
    #expect(try told(resync) == ["8 ben Note#1 id=n0", "9 ben Note#5 id=x"])
    #expect(resync.hasAllTombstones && resync.token == store.token)
    let present = try resync.snapshot.objects(of: "Note")
    #expect(present.map { $0["id"] } == ["n1", "n2", "n3", "y", "later"])
    #expect(try present.allSatisfy { try resync.contains($0.objectID) })
    let gone = ObjectID(store: store.token.store, entity: 1, row: 1)
    #expect(try !resync.contains(gone))
    let foreign = ObjectID(store: RawUUID(high: 1, low: 2), entity: 1, row: 2)
    let error = #expect(throws: AnnalsError.self) { try resync.contains(foreign) }
    #expect(error?.code == .otherStore)
    try sync.advance(to: resync.token)
    #expect(try sync.history().numbers() == [])
    #expect(try told(sync.resync()) == [])
    #expect(store.version.view.features.contains(.tombstones))
    #expect(try lab.frames(.tombstones) == 1)
    // Before, one that has seen more gets less; of deletes that history has, all.
    #expect(
      try told(store.resync(after: Token(store: store.token.store, number: 8, opening: 0)))
        == ["9 ben Note#5 id=x"])
    let early = try store.resync(after: Token(store: store.token.store, number: 4, opening: 0))
    #expect(try told(early).count == 2 && !early.hasAllTombstones)
    try store.write { try $0.delete(present[0].objectID) }
    #expect(try told(early).count == 2, "a resync stays as it is")
    #expect(try told(store.resync(after: resync.token)) == ["11 - Note#2 id=n1"])
  }

  /// They go when everybody who is waited for has passed them.
  @Test func untilEverybodyHasPassed() throws {
    let (store, sync) = try passed()
    let other = try store.consumer("other", blocking: true, lease: .seconds(10))
    #expect(try other.token.number == 9)
    try store.compact()
    #expect(try lab.frames(.tombstones) == 1)
    try sync.advance(to: Token(store: store.token.store, number: 8, opening: 0))
    try store.note("more")
    try store.prune(store.prunePlan(before: Int64(10)))
    try store.note("and more")
    try store.compact()
    #expect(try told(store.resync(after: sync.token)) == ["9 ben Note#5 id=x"])
    try sync.advance(to: store.token)
    try store.note("again")
    try store.compact()
    #expect(try lab.frames(.tombstones) == 0)
    #expect(try store.version.view.tombstones() == nil)
    // Those that do not block, or whose lease ran out, are not waited for.
    _ = try store.consumer("idle")
    lab.wait(seconds: 11)
    try store.removeConsumer("sync")
    let note = try #require(try store.snapshot().objects(of: "Note").first?.objectID)
    try store.write { try $0.delete(note) }
    try store.note("last")
    try store.prune(store.prunePlan(before: store.token.number))
    #expect(try lab.frames(.tombstones) == 0)
    #expect(try !store.resync(after: other.token).hasAllTombstones)
    #expect(try other.resync().snapshot.count(of: "Note") == store.snapshot().count(of: "Note"))
  }

  /// That nothing was deleted is known, too.
  @Test func noDeletes() throws {
    let store = try lab.open(notes: 6)
    let sync = try store.consumer("sync", blocking: true)
    try sync.advance(to: store.token(at: 3))
    try store.prune(store.prunePlan(before: Int64(5)), force: true)
    let resync = try sync.resync()
    #expect(try told(resync) == [] && resync.hasAllTombstones)
    #expect(
      try !store.resync(after: Token(store: store.token.store, number: 2, opening: 0))
        .hasAllTombstones)
    try store.close()
    #expect(try lab.frames(.tombstones) == 0)
    #expect(try lab.open(.readOnly).consumer("sync").resync().hasAllTombstones)
  }

  @Test func largeValuesAndManyDeletes() throws {
    let long = String(repeating: "long ", count: 3_000)
    let (store, sync) = try passed(long)
    var bytes: [String] = []
    try sync.resync().forEachTombstone { gone in
      if case .large(let value) = gone.tombstone["mark"] {
        bytes.append(String(decoding: try store.bytes(of: value), as: UTF8.self))
      }
    }
    #expect(bytes == [long])
    // In several frames, of one transaction.
    try store.write { tx in
      for number in 0..<30_000 { try tx.insert("Note", ["id": .string("many \(number)")]) }
    }
    try store.write { tx in
      for note in try tx.objects(of: "Note") { try tx.delete(note.objectID) }
    }
    try store.note("behind")
    try store.prune(store.prunePlan(before: store.token.number), force: true)
    #expect(try lab.frames(.tombstones) > 1)
    var count = 0
    try sync.resync().forEachTombstone { _ in count += 1 }
    #expect(count == 2 + 4 + 30_000)
    try store.compact(smallest: true)
    #expect(try told(sync.resync()).last == "12 - Note#30006 id=many 29999")
  }

  /// Names are those of the base; what it has removed is not there.
  @Test func changesOfTheSchema() throws {
    let store = try lab.open(notes: 3)
    let sync = try store.consumer("sync", blocking: true)
    try store.require(
      Schema { Entity("Note") { Attribute("tag", .string, isPreservedAfterDeletion: true) } })
    try store.write { tx in
      for note in try tx.objects(of: "Note") { try tx.update(note.objectID, ["tag": "m"]) }
    }
    let notes = try store.snapshot().objects(of: "Note").map(\.objectID)
    try store.write { try $0.delete(notes[0]) }
    try store.write {
      try $0.require(Schema(), edits: [.renameProperty(entity: "Note", "id", to: "key")])
    }
    try store.write { try $0.delete(notes[1]) }
    try store.prune(store.prunePlan(before: store.token.number), force: true)
    #expect(
      try told(sync.resync()) == [
        "7 - Note#1 key=n0,tag=m", "9 - Note#2 key=n1,tag=m",
      ])
    try store.write {
      try $0.require(Schema(), edits: [.removeProperty(entity: "Note", "tag")])
    }
    try store.prune(store.prunePlan(before: store.token.number), force: true)
    try store.note2("k")
    try store.prune(store.prunePlan(before: store.token.number), force: true)
    #expect(
      try told(sync.resync()) == ["7 - Note#1 key=n0", "9 - Note#2 key=n1"])
    #expect(try lab.frames(.tombstones) == 1)
  }

  /// What was removed before the history goes is not kept of it, either.
  @Test func whatIsRemovedWithIt() throws {
    let store = try lab.open(notes: 1)
    let sync = try store.consumer("sync", blocking: true)
    let note = try #require(try store.snapshot().objects(of: "Note").first?.objectID)
    try store.write { try $0.update(note, ["mark": "m"]) }
    try store.write { try $0.delete(note) }
    try store.edit(.removeProperty(entity: "Note", "mark"))
    try store.note("behind")
    try store.prune(store.prunePlan(before: store.token.number), force: true)
    #expect(try told(sync.resync()) == ["4 - Note#1 id=n0"])
    var batch = ChangeBatch()
    let view = store.version.view
    let frame = try #require(try view.tombstones()?.frames.first)
    try view.read(tombstones: frame, into: &batch)
    #expect(batch.properties.map(\.property) == [1])
  }

  @Test func copies() throws {
    let (store, sync) = try passed()
    let token = try sync.token
    try store.replay(to: "/copy.annals", at: store.token)
    try store.replay(to: "/flat.annals", at: store.token, flatten: true)
    try store.backup(to: "/backup.annals")
    for (path, count) in [("/copy.annals", 0), ("/flat.annals", 0), ("/backup.annals", 2)] {
      let copy = try Store(StoreLocation(fileSystem: lab.files, path: path), creates: false)
      let view = copy.version.view
      #expect(try view.tombstones()?.count ?? 0 == count, "\(path)")
      #expect(view.features.contains(.tombstones) == (count > 0), "\(path)")
      #expect(try lab.files.findings(about: path).isEmpty)
      let found = Token(store: copy.token.store, number: token.number, opening: 0)
      #expect(try told(copy.resync(after: found)).count == count)
    }
    do {
      _ = try store.resync(after: Token(store: RawUUID(high: 1, low: 2), number: 3, opening: 0))
      Issue.record("a token of another store")
    } catch {
      #expect(error.code == .otherStore)
    }
  }

  /// Who has seen what a power failure took knows of no delete for certain.
  @Test func whatWasNeverThere() throws {
    let store = try lab.open(notes: 4)
    let beyond = try store.resync(after: Token(store: store.token.store, number: 9, opening: 3))
    #expect(try told(beyond) == [] && !beyond.hasAllTombstones)
    let note = try #require(try store.snapshot().objects(of: "Note").first?.objectID)
    try store.write { try $0.delete(note) }
    let branch = try store.resync(after: Token(store: store.token.store, number: 3, opening: 77))
    #expect(try told(branch).count == 1 && !branch.hasAllTombstones)
    let sound = try store.resync(after: store.token(at: 3))
    #expect(try told(sound).count == 1 && sound.hasAllTombstones)
  }

  /// One that another process registers while the file is written anew is not forgotten.
  @Test func oneThatComesLate() throws {
    let (store, other) = (try lab.open(notes: 4), try lab.open())
    _ = try store.consumer("first")
    let note = try #require(try store.snapshot().objects(of: "Note").first?.objectID)
    try store.write { try $0.delete(note) }
    try store.note("behind")
    lab.files.onceWhileRewriting(lab.location.path) {
      _ = try? other.consumer("late", blocking: true, startingAfter: Int64(3))
    }
    try store.prune(store.prunePlan(before: store.token.number), force: true)
    #expect(try told(store.consumer("late").resync()) == ["6 - Note#1 id=n0"])
  }

  @Test func salvage() throws {
    let (store, sync) = try passed(String(repeating: "l", count: 9_000))
    let token = try sync.token
    let expected = try told(sync.resync())
    try store.close()
    func salvaged() throws -> (lines: [String], isComplete: Bool) {
      try? lab.files.remove("/saved.annals")
      _ = try Store.salvage(lab.location, to: "/saved.annals")
      let location = StoreLocation(fileSystem: lab.files, path: "/saved.annals")
      #expect(try lab.files.findings(about: "/saved.annals").allSatisfy { $0.severity == .note })
      let saved = try Store(location, creates: false)
      defer { try? saved.close() }
      let resync = try saved.resync(after: token)
      return (try told(resync), resync.hasAllTombstones)
    }
    #expect(try salvaged().lines == expected && salvaged().isComplete)
    // Its frame is damaged.
    let place = try #require(try lab.places(.tombstones).first)
    try lab.files.overwrite([0xFF], at: place + 30, of: lab.location.path)
    let again = try lab.open()
    let late = try again.consumer("sync")
    #expect(try late.resync().snapshot.count(of: "Note") == 4)
    do {
      try late.resync().forEachTombstone { _ in }
      Issue.record("damaged tombstones were read")
    } catch let error as AnnalsError {
      #expect(error.code == .damaged && error.offset == place)
    }
    do {
      try again.compact(smallest: true)
      Issue.record("damaged tombstones were copied")
    } catch {
      #expect(error.code == .damaged)
    }
    try again.close()
    #expect(try lab.files.findings(about: lab.location.path).count { $0.severity == .error } > 0)
    let left = try salvaged()
    #expect(left.lines == [] && !left.isComplete)
  }

  /// Where transactions were lost, it goes on from the present.
  @Test func throughAGap() throws {
    let store = try lab.open(notes: 9)
    let sync = try store.consumer("sync", blocking: true)
    try sync.advance(to: store.token(at: 4))
    let note = try #require(try store.snapshot().objects(of: "Note").first?.objectID)
    try store.write { try $0.delete(note) }
    try store.close()
    let saved = try lab.salvagedWithoutTheFifth()
    #expect(saved.version.view.gaps.map(\.numbers) == [5...5])
    for number in [3, 4] {
      let resync = try saved.resync(after: saved.token(at: number))
      #expect(try told(resync).count == 1 && !resync.hasAllTombstones)
      #expect(try resync.snapshot.count(of: "Note") == saved.snapshot().count(of: "Note"))
    }
    #expect(try saved.resync(after: saved.token(at: 6)).hasAllTombstones)
    // The lost transaction is none that is dropped.
    #expect(try saved.prunePlan(before: Int64(8)).transactions == 6)
    try saved.prune(saved.prunePlan(before: Int64(8)), force: true)
    let resync = try saved.consumer("sync").resync()
    #expect(try told(resync).count == 1 && !resync.hasAllTombstones)
    #expect(
      try saved.resync(after: Token(store: saved.token.store, number: 5, opening: 0))
        .hasAllTombstones)
  }
}

extension Store {
  /// Inserts a note in a store where its id is called key.
  fileprivate func note2(_ key: String) throws {
    try write { _ = try $0.insert("Note", ["key": .string(key)]) }
  }
}
