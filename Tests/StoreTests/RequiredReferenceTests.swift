import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

private struct Line: Record, Equatable {
  var name: String
  static let entity = RecordEntity("Line", Line.init, Property("name", \.name).unique())
}

private struct Stop: Record, Equatable {
  var name: String
  var line: Reference<Line>
  var next: Reference<Stop>?
  var owner: ObjectID
  static let entity = RecordEntity(
    "Stop", Stop.init, Property("name", \.name).unique(), Property("line", \.line),
    Property("next", \.next), Property("owner", \.owner, to: Line.self))
}

/// The stop of a program before it had lines.
private struct OlderStop: Record {
  var name: String
  static let entity = RecordEntity("Stop", OlderStop.init, Property("name", \.name).unique())
}

/// A reference that is not optional: every object has one.
@Suite struct RequiredReferenceTests {
  @Test func isWrittenReadAndAskedFor() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.annals")
    let (red, blue, first) = try Store.with(path: path, records: Stop.self, Line.self) { store in
      try store.write { tx in
        let red = try tx.insert(Line(name: "red"))
        let blue = try tx.insert(Line(name: "blue"))
        let first = try tx.insert(
          Stop(name: "a", line: red.reference, next: nil, owner: red.id))
        try tx.insert(
          Stop(name: "b", line: blue.reference, next: first.reference, owner: red.id))
        return (red, blue, first)
      }
    }
    let store = try Store(path: path, records: Stop.self, Line.self)
    func names(_ condition: RecordCondition<Stop>) throws -> [String] {
      try store.snapshot().objects(of: Stop.self, where: condition, sortedBy: \.name)
        .map(\.name)
    }
    #expect(try names(\.line == red) == ["a"])
    #expect(try names(\.line == Reference(red)) == ["a"])
    #expect(try names(\.line != red) == ["b"])
    #expect(try names(\.next == first) == ["b"])
    #expect(try names(.isIn(\.line, [red, blue])) == ["a", "b"])
    #expect(try names(.through(\.line, \.name == "blue")) == ["b"])
    #expect(try names(.through(\.next, \.name == "a")) == ["b"])
    let snapshot = store.snapshot()
    let sorted = try snapshot.fetch(Fetch(Stop.self).sorted(by: .ascending(\.line, \.name)))
    #expect(sorted.map(\.name) == ["b", "a"])
    let groups = try snapshot.groups(Fetch(Stop.self), by: .through(\.line, \.name))
    #expect(groups.map(\.key) == ["blue", "red"])
    let rows = try snapshot.rows(Fetch(Stop.self), sections: .by(\.line, \.name))
    #expect(rows.sectionCount == 2)
    #expect(try snapshot[sorted[0].line]?.name == "blue")
    let b = sorted[0]
    #expect(b.line == blue && b.line != red && b.next == first && first.next != b)
    try store.write { tx in
      try tx.set(\.line, of: b, to: red)
      try tx.set(\.next, of: first, to: b)
    }
    #expect(try names(\.line == red) == ["a", "b"])
    var written: [Reference<Line>] = []
    for change in try store.transaction(store.token.number).changes {
      if let line = try change.after(\Stop.line) { written.append(line) }
    }
    #expect(written == [red.reference])
  }

  @Test func whatLeadsNowhereIsAnErrorThatNamesIt() throws {
    let store = try Store(.memory, records: Stop.self, Line.self)
    let (line, stop) = try store.write { tx in
      let line = try tx.insert(Line(name: "red"))
      let stop = Stop(name: "a", line: line.reference, next: nil, owner: line.id)
      return (line, try tx.insert(stop))
    }
    // A reference that is written must lead to an object.
    let nowhere = try store.write { try $0.insert(Line(name: "gone")) }
    try store.write { try $0.delete(nowhere) }
    let refused = #expect(throws: AnnalsError.self) {
      try store.write { try $0.set(\.line, of: stop, to: nowhere) }
    }
    #expect(refused?.violations.map(\.property) == ["line"])
    try store.write { try $0.delete(line) }
    let read = #expect(throws: AnnalsError.self) {
      try store.snapshot().object(Stop.self, stop.id)
    }
    #expect(read?.code == .unreadableRecord)
    #expect(
      read?.message.hasPrefix("Stop/a.line leads to Line#1, which was deleted") == true,
      "\(read as Any)")
    #expect(throws: AnnalsError.self) { try store.snapshot().objects(of: Stop.self) }
    // By its id it is set without being read.
    try store.write { tx in
      let blue = try tx.insert(Line(name: "blue"))
      try tx.set(\.line, of: stop, to: blue)
      try tx.set(\.owner, of: stop, to: blue.id)
    }
    let back = try #require(try store.snapshot().object(Stop.self, stop.id))
    #expect(try store.snapshot()[back.line]?.name == "blue")
    let byName = try store.write { try $0.insert("Stop", ["name": "b"]) }
    let none = #expect(throws: AnnalsError.self) { try store.snapshot().object(Stop.self, byName) }
    #expect(none?.message.hasPrefix("Stop/b.line leads to no object") == true, "\(none as Any)")
  }

  @Test func itCannotBeAddedWhereThereAreObjects() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.annals")
    try Store.with(path: path, records: OlderStop.self) { _ in }
    // Without objects it can.
    try Store.with(path: path, records: Stop.self, Line.self) { store in
      let count = try store.snapshot().count(of: Stop.self)
      #expect(count == 0)
    }
    let other = folder.path("b.annals")
    try Store.with(path: other, records: OlderStop.self) { store in
      try store.write { try $0.insert(OlderStop(name: "a")) }
    }
    let refused = #expect(throws: AnnalsError.self) {
      try Store(path: other, records: Stop.self, Line.self)
    }
    #expect(refused?.schemaConflicts.map(\.property) == ["line", "owner"])
    #expect(refused?.schemaConflicts.map(\.kind) == [.missingDefault, .missingDefault])
    #expect(refused?.message.contains("required reference") == true)
  }
}
