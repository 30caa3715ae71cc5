import Annals
import AnnalsModel
import Foundation
import Testing

private struct Page: Record, Equatable {
  var key: String
  var title: String?
  var visits: Int
  var shelf: Int
  var body: String?
  static let entity = RecordEntity(
    "Page", Page.init, Property("key", \.key).unique(),
    Property("title", \.title).length(...20), Property("visits", \.visits),
    Property("shelf", \.shelf), Property("body", \.body))
}

private struct OldShelf: Record {
  var name: String
  static let entity = RecordEntity("Shelf", OldShelf.init, Property("name", \.name))
}

private struct Shelf: Record {
  var name: String
  var floor: Int
  static let entity = RecordEntity(
    "Shelf", Shelf.init, Property("name", \.name), Property("floor", \.floor).default(3))
}

/// Records changed through a store, property by property.
@Suite struct TypedWritingTests {
  @Test func onePropertyIsSetAndTheOthersStay() throws {
    let store = try Store(.memory, records: Page.self)
    let page = Page(key: "a", title: "Fog", visits: 1, shelf: 7, body: nil)
    var made: Object<Page>?
    try store.write { made = try $0.insert(page) }
    let object = try #require(made)
    try store.write { tx in
      try tx.set(\.title, of: object, to: "Mist")
      try tx.set(\Page.visits, of: object.objectID, to: 2)
      #expect(try tx.object(Page.self, object.objectID)?.value.visits == 2)
    }
    let now = try store.snapshot().objects(of: Page.self).map(\.value)
    #expect(now == [Page(key: "a", title: "Mist", visits: 2, shelf: 7, body: nil)])
    let change = try #require(try store.transaction(store.token.number).changes.first)
    #expect(change.changedProperties == ["title", "visits"])
    #expect(change.properties.first?.before == .string("Fog"))
    #expect(change.properties.last?.after == .int(2))
    // What is set to what it was is no change.
    let head = store.token
    try store.write { tx in
      try tx.set(\.title, of: object, to: "Mist")
      try tx.set(\.visits, of: object, to: 9)
      try tx.set(\.visits, of: object, to: 2)
    }
    #expect(store.token == head)
    try store.write { try $0.set(\.title, of: object, to: nil) }
    #expect(try store.snapshot().objects(of: Page.self).first?.value.title == nil)
  }

  @Test func settingChecksWhatAnUpdateChecks() throws {
    let store = try Store(.memory, records: Page.self)
    var made: [Object<Page>] = []
    try store.write { tx in
      for key in ["a", "b"] {
        made.append(
          try tx.insert(Page(key: key, title: nil, visits: 0, shelf: 0, body: nil)))
      }
    }
    let error = #expect(throws: AnnalsError.self) {
      try store.write { tx in
        try tx.set(\.key, of: made[0], to: "b")
        try tx.set(\.title, of: made[1], to: String(repeating: "x", count: 21))
      }
    }
    #expect(
      Set(error?.violations.map(\.rule) ?? []) == [
        .maximumLength(20),
        .unique(
          ObjectReference(entity: made[1].objectID.entity, row: made[1].objectID.row)),
      ])
    try store.write { try $0.delete(made[0]) }
    let gone = #expect(throws: AnnalsError.self) {
      try store.write { try $0.set(\.visits, of: made[0], to: 1) }
    }
    #expect(gone?.code == .noSuchObject)
  }

  @Test func theDefaultThatAnOlderObjectHasIsNoChange() throws {
    let location = memoryFile()
    let old = try Store(location, records: OldShelf.self)
    try old.write { try $0.insert(OldShelf(name: "a")) }
    try old.close()
    let store = try Store(location, records: Shelf.self)
    let object = try #require(try store.snapshot().objects(of: Shelf.self).first)
    #expect(object.value.floor == 3)
    let head = store.token
    try store.write { tx in
      try tx.set(\.floor, of: object, to: 4)
      try tx.set(\.floor, of: object, to: 3)
    }
    #expect(store.token == head)
    try store.write { try $0.set(\.floor, of: object, to: 4) }
    try store.write { try $0.set(\.floor, of: object, to: 3) }
    let change = try #require(try store.transaction(store.token.number).changes.first)
    #expect(change.properties.first?.before == .int(4))
    #expect(change.properties.first?.after == .int(3))
    #expect(try store.snapshot().objects(of: Shelf.self).map(\.value.floor) == [3])
  }

  @Test func aLongTextIsSetWithoutTheOthersBeingRead() throws {
    let store = try Store(.memory, records: Page.self)
    let long = String(repeating: "fog ", count: 4_000)
    var made: Object<Page>?
    try store.write {
      made = try $0.insert(Page(key: "a", title: nil, visits: 0, shelf: 0, body: long))
    }
    let object = try #require(made)
    try store.write { try $0.set(\.title, of: object, to: "Fog") }
    let head = store.token
    try store.write { try $0.set(\.body, of: object, to: long) }
    #expect(store.token == head)
    try store.write { try $0.set(\.body, of: object, to: long + "!") }
    #expect(try store.snapshot().objects(of: Page.self).first?.value.body == long + "!")
    #expect(try store.verifyHistory() == [])
  }

  @Test func aLongTextThatIsPutBackIsNoChange() throws {
    let store = try Store(.memory, records: Page.self)
    let long = String(repeating: "fog ", count: 4_000)
    var made: Object<Page>?
    try store.write {
      made = try $0.insert(Page(key: "a", title: nil, visits: 0, shelf: 0, body: long))
    }
    let object = try #require(made)
    let head = store.token
    for other in ["short", long + "!"] {
      try store.write { tx in
        try tx.set(\.body, of: object, to: other)
        try tx.set(\.body, of: object, to: long)
      }
      try store.write { tx in
        try tx.update(object) { $0.body = other }
        try tx.update(object) { $0.body = long }
      }
      #expect(store.token == head)
    }
  }

  @Test func jsonIsAKeyAndHasRulesAsTextHas() throws {
    let store = try Store(.memory, records: Sheet.self)
    var made: Object<Sheet>?
    try store.write { tx in
      made = try tx.insert(Sheet(document: "{}", kind: "1"))
      try tx.insert(Sheet(document: "[]", kind: "2"))
      #expect(try tx.object(Sheet.self, where: \.document, is: "{}") == made)
    }
    #expect(try store.snapshot().object(Sheet.self, where: \.document, is: "{}") == made)
    #expect(try store.snapshot().object(Sheet.self, where: \.document, is: "{ }") == nil)
    #expect(throws: AnnalsError.self) {
      try store.write { _ = try $0.insert(Sheet(document: "{\"a\":1}", kind: "3")) }
    }
    try store.erase(\Sheet.kind, of: try #require(made), reason: "r")
    #expect(try store.snapshot().count(Fetch<Sheet>().where(\.kind == "2")) == 2)
  }
}

/// JSON whose rules are stated before it is called that.
private struct Sheet: Record, Equatable {
  var document: String
  var kind: String
  static let entity = RecordEntity(
    "Sheet", Sheet.init, Property("document", \.document).unique().json(),
    Property("kind", \.kind).oneOf(["1", "2"]).whenErased("2").json())
}
