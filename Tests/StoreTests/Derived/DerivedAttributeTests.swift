import Annals
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

struct DerivedLine: Record {
  var name: String
  var key = ""
  var count = 0
  var total = 0
  var first: Date?
  var mean: Double?
  static let entity = RecordEntity(
    "Line", DerivedLine.init,
    Property("name", \.name),
    Property("key", \.key).unique().derived(.normalized(\.name)),
    Property("count", \.count).derived(.count(\.events)).indexed(),
    Property("total", \.total).derived(.sum(\.events, \.amount)),
    Property("first", \.first).derived(.min(\.events, \.start)),
    Property("mean", \.mean).derived(.average(\.events, \.weight)))

  static let events = Inverse(\DerivedEvent.line)
}

struct DerivedEvent: Record {
  var title: String
  var amount: Int?
  var start: Date?
  var weight: Double?
  var line: Reference<DerivedLine>?
  var label = ""
  static let entity = RecordEntity(
    "Event", DerivedEvent.init,
    Property("title", \.title), Property("amount", \.amount), Property("start", \.start),
    Property("weight", \.weight), Property("line", \.line).onDelete(.nullify),
    Property("label", \.label).derived(version: 1, from: \.title, \.amount) {
      "\($0): \($1.map(String.init) ?? "none")"
    })
}

struct DerivedList: Record {
  var lines: [Reference<DerivedLine>]
  var size = 0
  var total = 0
  static let entity = RecordEntity(
    "List", DerivedList.init,
    Property("lines", \.lines, isOrdered: true),
    Property("size", \.size).derived(.count(\.lines)),
    Property("total", \.total).derived(.sum(\.lines, \.total)))
}

/// A store of lines, events and lists.
func derivedStore(_ location: StoreLocation = .memory) throws -> Store {
  try Store(
    location, records: DerivedLine.self, DerivedEvent.self, DerivedList.self,
    environment: .fixed())
}

/// Derived attributes: what computes them, and who cannot set them.
@Suite struct DerivedAttributeTests {
  private let store: Store
  private let red: Object<DerivedLine>
  private let blue: Object<DerivedLine>

  init() throws {
    store = try derivedStore()
    (red, blue) = try store.write { tx in
      (
        try tx.insert(DerivedLine(name: "Rote Ängste")),
        try tx.insert(DerivedLine(name: "blue", key: "given", count: 7))
      )
    }
  }

  private func line(_ object: Object<DerivedLine>) throws -> DerivedLine {
    try #require(try store.snapshot().object(DerivedLine.self, object.objectID)).value
  }

  @discardableResult
  private func insert(_ amount: Int?, _ line: Object<DerivedLine>?) throws -> Object<DerivedEvent> {
    try store.write {
      try $0.insert(
        DerivedEvent(
          title: "e", amount: amount, start: amount.map { Date(timeIntervalSince1970: Double($0)) },
          weight: amount.map(Double.init), line: line?.reference))
    }
  }

  private func problems() throws -> [StoreFinding] { try store.problems() }

  @Test func anInsertedRecordGetsItsOwnValues() throws {
    #expect(try line(red).key == "rote angste")
    #expect(try line(blue).key == "blue")
    #expect(try line(blue).count == 0)
    #expect(try line(blue).first == nil)
    #expect(try problems().isEmpty)
  }

  @Test func valuesFollowWhatRefersToAnObject() throws {
    let event = try insert(5, red)
    try insert(8, red)
    try insert(nil, red)
    #expect(try line(red).count == 3)
    #expect(try line(red).total == 13)
    #expect(try line(red).first == Date(timeIntervalSince1970: 5))
    #expect(try line(red).mean == 6.5)
    try store.write { try $0.update(event) { $0.amount = 1 } }
    #expect(try line(red).total == 9)
    try store.write { try $0.set(\.line, of: event, to: blue.reference) }
    #expect(try line(red).total == 8)
    #expect(try line(red).count == 2)
    #expect(try line(blue).count == 1)
    try store.write { try $0.delete(event) }
    #expect(try line(blue).count == 0)
    #expect(try line(blue).mean == nil)
    #expect(try problems().isEmpty)
  }

  @Test func aFunctionFollowsWhatItReads() throws {
    let event = try insert(5, nil)
    func label() throws -> String? {
      try store.snapshot().object(DerivedEvent.self, event.objectID)?.label
    }
    #expect(try label() == "e: 5")
    try store.write { try $0.update(event) { $0.amount = nil } }
    #expect(try label() == "e: none")
  }

  @Test func listsAreOfTheirObjectsAndDerivedOfDerivedOnes() throws {
    let list = try store.write {
      try $0.insert(DerivedList(lines: [red.reference, blue.reference, red.reference]))
    }
    func read() throws -> DerivedList {
      try #require(try store.snapshot().object(DerivedList.self, list.objectID)).value
    }
    #expect(try read().size == 3)
    try insert(5, red)
    #expect(try read().total == 10)
    try insert(2, blue)
    #expect(try read().total == 12)
    try store.write { try $0.delete(red) }
    #expect(try read().size == 1)
    #expect(try read().total == 2)
    #expect(try problems().isEmpty)
  }

  @Test func aSetValueIsRefused() throws {
    let code: [(WriteTransaction) throws -> Void] = [
      { [red] in try $0.update(red) { $0.count = 5 } },
      { [red] in try $0.set(\.count, of: red, to: 5) },
      { [red] tx in
        var edited = red
        edited.count = 5
        try tx.save(edited)
      },
      { [red] in try $0.update(red.objectID, ["count": 5]) },
      { try $0.insert("Line", ["name": "x", "count": 5]) },
      { try $0.update(DerivedLine.self, where: \.name == "blue") { $0.count = 5 } },
    ]
    for (place, body) in code.enumerated() {
      let error = #expect(throws: AnnalsError.self, "\(place)") { try store.write(body) }
      #expect(error?.code == .invalidChange)
      #expect(error?.message.contains("count: 5 cannot be set: it is derived, ") == true)
    }
    // What is not changed, and a record that was not read.
    try store.write { tx in
      try tx.set(\.count, of: red, to: 0)
      try tx.update(blue) { $0.name = "Blau" }
      try tx.save(DerivedLine(name: "rot", count: 12), as: red.objectID)
    }
    #expect(try line(red).key == "rot")
    #expect(try line(red).count == 0)
  }

  @Test func whatIsNormalizedCanBeUnique() throws {
    let error = #expect(throws: AnnalsError.self) {
      try store.write { try $0.insert(DerivedLine(name: "BLUE")) }
    }
    #expect(error?.violations.first?.property == "key")
    let found = try store.snapshot().object(
      DerivedLine.self, where: \.key, is: "RÖTE ängste".normalizedForSearch)
    #expect(found?.objectID == red.objectID)
  }

  @Test func historyHasThemAsOrdinaryValues() throws {
    let before = store.token
    try insert(5, red)
    let past = try store.snapshot(at: before)
    #expect(try past.object(DerivedLine.self, red.objectID)?.count == 0)
    let changes = try store.history(after: before).collect(limit: 10)[0].changes
    #expect(changes.contains { $0.changedProperties.contains("count") })
    let sorted = Fetch(DerivedLine.self).where(\.count > 0).sorted(by: \.count)
    #expect(try store.snapshot().explain(sorted).contains("index"))
    #expect(try store.snapshot().fetch(sorted).map(\.objectID) == [red.objectID])
  }

  @Test func aRevertAndAnUndoRestoreNoDerivedValue() throws {
    let first = try insert(5, red)
    let number = store.token.number
    try insert(8, red)
    try store.revert(number)
    #expect(try line(red).total == 8)
    #expect(try line(red).count == 1)
    #expect(try store.snapshot().object(DerivedEvent.self, first.objectID) == nil)
    try store.revert(store.token.number)
    #expect(try line(red).total == 13)
    #expect(try problems().isEmpty)
  }

  @Test func aMergeHasNoConflictsOfThem() throws {
    let base = store.token
    try insert(5, red)
    for policy in MergePolicy.allCases {
      try store.write(basedOn: base, merging: policy) { tx in
        try tx.insert(DerivedEvent(title: "m", amount: 1, line: red.reference))
      }
    }
    #expect(try line(red).count == 1 + MergePolicy.allCases.count)
    #expect(try line(red).total == 5 + MergePolicy.allCases.count)
    // Nobody has changed the line itself.
    try store.write(basedOn: base) { try $0.update(red) { $0.name = "Rot" } }
    #expect(try problems().isEmpty)
  }
}
