import Annals
import AnnalsModel
import Foundation
import Testing

private struct Place: Record, Equatable {
  var name: String
  var events: [Reference<Event>]
  static let entity = RecordEntity(
    "Place", Place.init, Property("name", \.name),
    Property("events", \.events, isOrdered: true))
}

private struct Event: Record, Equatable {
  var title: String
  var place: Reference<Place>?
  var others: [Reference<Place>]
  static let entity = RecordEntity(
    "Event", Event.init, Property("title", \.title).unique().preservedAfterDeletion(),
    Property("place", \.place), Property("others", \.others))
}

private struct Untold: Record {
  var name: String
  var place: ObjectID?
  static let entity = RecordEntity(
    "Untold", Untold.init, Property("name", \.name), Property("place", \.place))
}

private struct Memo: Record {
  var id: Int
  var first: String?
  var second: String?
  var when: Date
  var body: String
  static let entity = RecordEntity(
    "Memo", Memo.init, Property("id", \.id).unique().preservedAfterDeletion(),
    Property("first", \.first), Property("second", \.second), Property("when", \.when),
    Property("body", \.body).preservedAfterDeletion())

  static func sample(_ id: Int = 7) -> Memo {
    Memo(
      id: id, first: nil, second: "b", when: Date(timeIntervalSince1970: 0.5), body: "text")
  }
}

/// References that know where they lead, and objects that are saved.
@Suite struct ReferenceTests {
  @Test func referencesAreFollowed() throws {
    let store = try Store(.memory, records: Event.self, Place.self)
    let events = try #require(store.schema.entity(named: "Event"))
    let places = try #require(store.schema.entity(named: "Place"))
    let place = events.relationship(named: "place")
    #expect(place?.destination == places.number && place?.isToMany == false)
    let lists = places.relationship(named: "events")
    #expect(lists?.destination == events.number && lists?.isToMany == true)
    #expect(lists?.isOrdered == true)
    let (kyoto, trip) = try store.write { tx in
      let kyoto = try tx.insert(Place(name: "Kyoto", events: []))
      let nara = try tx.insert(Place(name: "Nara", events: []))
      let trip = try tx.insert(
        Event(title: "Trip", place: Reference(kyoto), others: [Reference(nara), Reference(kyoto)]))
      #expect(try tx[trip.place]?.name == "Kyoto")
      #expect(try tx[trip.others].map(\.name) == ["Kyoto", "Nara"])
      return (kyoto, trip)
    }
    let snapshot = store.snapshot()
    let event = try #require(try snapshot.object(Event.self, trip.objectID))
    #expect(try snapshot[event.place]?.value == kyoto.value)
    #expect(try snapshot[event.others].map(\.name) == ["Kyoto", "Nara"])
    #expect(try snapshot[event.value.place.map { [$0] } ?? []].count == 1)
    #expect(try snapshot[nil as Reference<Place>?] == nil)
    #expect("\(event.place as Any)" == "Optional(Place#1)")
    // What is deleted since is not there, and was.
    try store.write { try $0.delete(kyoto) }
    #expect(try store.snapshot()[event.place] == nil)
    #expect(try store.snapshot()[event.others].map(\.name) == ["Nara"])
    #expect(try snapshot[event.place]?.name == "Kyoto")
    #expect(try store.snapshot().object(Event.self, trip.objectID)?.place == nil)
  }

  @Test func theTargetIsCheckedWhenWritten() throws {
    let store = try Store(.memory, records: Event.self, Place.self)
    let error = #expect(throws: AnnalsError.self) {
      try store.write { tx in
        let trip = try tx.insert(Event(title: "Trip", place: nil, others: []))
        try tx.insert(Event(title: "Other", place: Reference(trip.objectID), others: []))
      }
    }
    #expect(error?.code == .invalidChange)
    #expect(error?.violations.first?.property == "place")
  }

  @Test func aTargetThatNobodyStatesIsRefusedByName() throws {
    for open in [
      { _ = try Store(.memory, records: Untold.self, Place.self, Event.self) },
      { _ = try Store(.memory, schema: Schema(records: [Untold.self, Place.self, Event.self])) },
    ] as [() throws -> Void] {
      let error = #expect(throws: AnnalsError.self) { try open() }
      #expect(error?.code == .invalidSchema)
      #expect(error?.schemaConflicts.map(\.entity) == ["Untold"])
      #expect(error?.schemaConflicts.map(\.property) == ["place"])
      #expect(error?.message.contains("`to:`") == true, "\(error as Any)")
    }
    let alone = #expect(throws: AnnalsError.self) { try Store(.memory, records: Event.self) }
    #expect(alone?.message.contains("Place") == true)
  }

  @Test func anEditedObjectIsSaved() throws {
    let store = try Store(.memory, records: Memo.self)
    let memo = try store.write { try $0.insert(Memo.sample()) }
    var edited = memo
    edited.second = "c"
    edited.when = Date(timeIntervalSince1970: 2)
    #expect(memo.second == "b")
    let saved = try store.write { try $0.save(edited) }
    #expect(saved.second == "c" && saved.objectID == memo.objectID)
    let change = try #require(try store.transaction(store.token.number).changes.first)
    #expect(change.changedProperties == ["second", "when"])
    let head = store.token
    try store.write { try $0.save(edited) }
    #expect(store.token == head)
    // What others changed since is noticed where the write says what it is based on.
    try store.write { try $0.set(\.second, of: memo, to: "theirs") }
    edited.second = "mine"
    let refused = #expect(throws: AnnalsError.self) {
      try store.write(basedOn: head) { try $0.save(edited) }
    }
    #expect(refused?.code == .conflict)
    try store.write { try $0.delete(memo) }
    let gone = #expect(throws: AnnalsError.self) { try store.write { try $0.save(edited) } }
    #expect(gone?.code == .noSuchObject)
  }

  @Test func anObjectIsIdentifiedAndPrinted() throws {
    let store = try Store(.memory, records: Memo.self, Event.self, Place.self)
    let (memo, event) = try store.write { tx in
      let kyoto = try tx.insert(Place(name: "Kyoto", events: []))
      return (
        try tx.insert(Memo.sample()),
        try tx.insert(Event(title: "Trip", place: nil, others: [Reference(kyoto)]))
      )
    }
    #expect(memo.id == memo.objectID && memo.value.id == 7)
    #expect(
      "\(memo)" == #"Memo#1(id: 7, first: nil, second: "b", when: 1970-01-01T00:00:00.5Z, "#
        + #"body: "text")"#)
    #expect("\(event)" == #"Event#1(title: "Trip", place: nil, others: [#1])"#)
  }

  @Test func tombstonesAreReadAsRecords() throws {
    let store = try Store(.memory, records: Memo.self, Event.self, Place.self)
    let long = String(repeating: "x", count: 5_000)
    var memo = try store.write { try $0.insert(Memo.sample()) }
    memo.body = long
    try store.write { try $0.save(memo) }
    try store.write { try $0.delete(memo) }
    let change = try #require(try store.transaction(store.token.number).changes.first)
    let tombstone = try #require(change.tombstone(as: Memo.self))
    #expect(tombstone.objectID == memo.objectID)
    #expect(try tombstone.id == 7)
    #expect(try tombstone.body == long)
    #expect(try tombstone.second == nil, "it is not preserved")
    #expect(change.tombstone(as: Place.self) == nil)
    let update = try #require(try store.transaction(store.token.number - 1).changes.first)
    #expect(update.tombstone(as: Memo.self) == nil)
  }
}
