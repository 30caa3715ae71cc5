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
    "Stop", Stop.init, Property("name", \.name).unique(), Property("line", \.line).onDelete(.keep),
    Property("next", \.next).onDelete(.keep),
    Property("owner", \.owner, to: Line.self).onDelete(.keep))
}

/// The stop of a program before it had lines.
private struct OlderStop: Record {
  var name: String
  static let entity = RecordEntity("Stop", OlderStop.init, Property("name", \.name).unique())
}

/// The stop of a program that did not require a line.
private struct StopWithoutLine: Record {
  var name: String
  var line: Reference<Line>?
  var owner: ObjectID?
  static let entity = RecordEntity(
    "Stop", StopWithoutLine.init, Property("name", \.name).unique(),
    Property("line", \.line).onDelete(.keep),
    Property("owner", \.owner, to: Line.self).onDelete(.keep))
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
    let byName = #expect(throws: AnnalsError.self) {
      try store.write { try $0.insert("Stop", ["name": "b"]) }
    }
    #expect(byName?.violations.map(\.property) == ["line", "owner"])
  }

  /// A store of the program before it required a line, in which one stop has none.
  private func optional(_ path: String) throws {
    try Store.with(path: path, records: StopWithoutLine.self, Line.self) { store in
      try store.write { tx in
        let red = try tx.insert(Line(name: "red"))
        try tx.insert(StopWithoutLine(name: "a", line: red.reference, owner: red.id))
        try tx.insert(StopWithoutLine(name: "b", line: nil, owner: red.id))
        try tx.insert(StopWithoutLine(name: "c", line: nil, owner: nil))
      }
    }
  }

  @Test func itIsRequiredOnceEveryObjectHasOne() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.annals")
    try optional(path)
    let refused = #expect(throws: AnnalsError.self) {
      try Store(path: path, records: Stop.self, Line.self)
    }
    #expect(refused?.code == .invalidChange)
    #expect(
      refused?.violations.map(\.description) == [
        "Stop/b.line: a value is required; give it one, or declare it optional",
        "Stop/c.line: a value is required; give it one, or declare it optional",
        "Stop/c.owner: a value is required; give it one, or declare it optional",
      ])
    // Where nothing can be written, what can be read is read.
    let reading = try Store(
      path: path, records: Stop.self, Line.self, options: .readOnly)
    let none = #expect(throws: AnnalsError.self) {
      try reading.snapshot().objects(of: Stop.self, where: \.name == "b")
    }
    #expect(none?.message.hasPrefix("Stop/b.line leads to no object") == true, "\(none as Any)")
    try Store.with(path: path, records: StopWithoutLine.self, Line.self) { store in
      #expect(store.token.number == 2)
      try store.write { tx in
        let red = try #require(try tx.objects(of: Line.self).first)
        for stop in try tx.objects(of: StopWithoutLine.self) {
          try tx.set(\.line, of: stop, to: red)
          try tx.set(\.owner, of: stop, to: red.id)
        }
      }
    }
    try Store.with(path: path, records: Stop.self, Line.self) { store in
      #expect(store.schema.entity(named: "Stop")?.relationship(named: "line")?.isOptional == false)
      #expect(store.token.number == 4)
    }
    // It stays so, also for a reader of the file alone.
    let store = try Store(path: path)
    let cleared = #expect(throws: AnnalsError.self) {
      try store.write { tx in
        for stop in try tx.objects(of: "Stop") { try tx.update(stop.objectID, ["line": .null]) }
      }
    }
    #expect(cleared?.violations.map(\.key) == ["a", "b", "c"])
    try store.close()
    // The program before it makes it optional again.
    try Store.with(path: path, records: StopWithoutLine.self, Line.self) { store in
      #expect(store.token.number == 5)
      try store.write { try $0.insert(StopWithoutLine(name: "d", line: nil, owner: nil)) }
    }
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
