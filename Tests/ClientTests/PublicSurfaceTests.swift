import AnnalsTestSupport
import Foundation
import Testing

/// What a program outside this package sees of the library. The tests themselves are inside it, and
/// see more; so small programs are given to the compiler.
@Suite struct PublicSurfaceTests {
  @Test func whatUsersNeedCompiles() throws {
    let found = try SmallProgram(
      """
      struct Place: Record {
        var name: String
        static let entity = RecordEntity("Place", Place.init, Property("name", \\.name).unique())
      }
      enum Mood: String, AttributeValue { case calm, stormy }
      struct Event: Record {
        var title: String?
        var mood: Mood
        var place: Reference<Place>?
        var others: [Reference<Place>]
        var source: ObjectID?
        static let entity = RecordEntity(
          "Event", Event.init, Property("title", \\.title).preservedAfterDeletion(),
          Property("mood", \\.mood).oneOf([.calm]), Property("place", \\.place),
          Property("others", \\.others, isOrdered: true),
          Property("source", \\.source, to: Event.self))
      }
      func wait(_ store: Store) async throws -> Object<Place> {
        try await store.write(author: "ui") { tx in try tx.insert(Place(name: "Kyoto")) }
      }
      func use(_ store: Store, _ kyoto: Object<Place>) throws {
        var event = try store.write { tx in
          try tx.insert(
            Event(
              title: nil, mood: .calm, place: Reference(kyoto), others: [], source: nil))
        }
        event.title = "Trip"
        let edited = event
        let commit: Commit<Object<Event>> = try store.commit { tx in try tx.save(edited) }
        let snapshot = try store.snapshot(at: commit.token)
        let place: Object<Place>? = try snapshot[event.place]
        let ids: [ObjectID] = [event.id, place?.id].compactMap { $0 }
        for line in try store.blame(ids[0], at: commit.token) { print(line) }
        let change = try store.transaction(commit.token.number).changes[0]
        let title: String? = try change.tombstone(as: Event.self)?.title
        let uuid: UUID = commit.token.storeID
        let date: Date = try store.history(after: commit.token).collect()[0].timestamp
        print(title as Any, uuid, date, ObjectID(event.id.description) == event.id)
        let value = Value.date(date)
        if case .date(let moment) = value { print(Date(moment)) }
        if case .uuid(let bytes) = Value.uuid(uuid) { print(UUID(bytes)) }
        var environment = StoreEnvironment.system
        environment.now = { date }
      }
      """
    ).faultyLines()
    #expect(found.isEmpty, "\(found)")
  }

  @Test func timelinesCompile() throws {
    let found = try SmallProgram(
      """
      enum Kind: String, AttributeValue { case single, range, ongoing }
      struct Trip: Record {
        var title: String
        var from: Date
        var to: String?
        var isOpen: Bool?
        var kind: Kind
        static let entity = RecordEntity(
          "Trip", Trip.init, Property("title", \\.title), Property("from", \\.from),
          Property("to", \\.to), Property("isOpen", \\.isOpen), Property("kind", \\.kind))
      }
      func use(_ store: Store) async throws {
        let trips = Timeline(start: \\Trip.from, end: \\.to, openEnd: .flag(\\.isOpen))
          .endCounts(where: \\.isOpen != nil).where(\\.title != "x").labeled(by: \\.title)
          .grouped(by: \\.kind).sorted(.descending).hidingEnds().hidingOngoing().ongoing(.atNow)
        let kinds = Timeline(start: \\Trip.from, end: \\.to, openEnd: .kind(\\.kind))
        let rows = try store.snapshot().timeline(trips, in: .current, now: .now)
        for row in rows {
          let date: Date? = row.date
          let span: CalendarSpan = row.length ?? row.elapsed
          print(row.objectID, row.role == .start, row.kind == .range, row.marks == .inverted)
          print(row.label, row.dateText, row.group as Any, date as Any, span.years, span.isNegative)
        }
        for section in rows.sections(by: .month) { print(section.label, section.positions) }
        print(rows.unplaced.map(\\.reason), rows.gap(after: 0) as Any)
        print(rows.positions(of: rows[0].objectID), kinds.definition.entity)
      }
      func ask(_ store: Store) async throws {
        let named = TimelineDefinition("Trip", start: "from", end: "to", openEnd: .whenEndIsNil)
        let rows = try store.snapshot(at: 3).timeline(named, TimelineOrder(hidesEnds: true))
        let spans = rows.intervals()
        for overlap in spans.overlaps(limit: 9) { print(overlap.first.label, overlap.end as Any) }
        for day in try spans.counts(by: .day, in: .distantPast..<(.now)) { print(day.count) }
      }
      @MainActor func follow(_ store: Store) async throws {
        let live = store.live(Timeline(start: \\Trip.from))
        for try await update in live { print(update.diff, try update.rows.rows(in: 0..<1)) }
        live.tick()
        print(try LiveRows(live).rows.count)
      }
      """
    ).faultyLines()
    #expect(found.isEmpty, "\(found)")
  }

  @Test func salvageNeedsItsOwnImport() throws {
    let call = "func save() throws -> [String] { try Store.salvage(\"a\", to: \"b\").lines() }"
    let whole = try SmallProgram("import AnnalsSalvage\n" + call).faultyLines()
    #expect(whole.isEmpty, "\(whole)")
    #expect(try !SmallProgram(call).faultyLines().isEmpty)
  }

  @Test func whatIsInsideIsNotSeen() throws {
    let lines = [
      "func f1(_ token: Token) -> Any { token.store }",
      "func f2(_ token: Token) -> Any { token.opening }",
      "func f3(_ token: inout Token) { token.number = 1 }",
      "func f4(_ id: ObjectID) -> Any { id.store }",
      "func f5(_ id: inout ObjectID) { id.row = 1 }",
      "func f6(_ id: inout ObjectID) { id.entity = 1 }",
      "func f7(_ value: Value) -> Any { value.tag }",
      "func f8() -> Any { ValueTag.null }",
      "func f9(_ large: LargeValue) -> Any { large.number }",
      "func f10(_ index: IndexDescription) -> Any { index.collation }",
      "func f11(_ store: Store) throws { try store.importTransaction { _ in } }",
      "func f12() -> Any { Timestamp(microseconds: 1) }",
      "func f13(_ moment: Timestamp) -> Any { moment.microseconds }",
      "func f14(_ uuid: RawUUID) -> Any { uuid.high }",
      "func f15() -> Any { RawUUID(UUID()) }",
      "func f16() -> any HistoryPosition { HistoryPlace(kind: .number(1)) }",
      "func f17(_ reader: inout RecordReader) -> Any { reader.refuseLast(as: Int.self) }",
      "func f18(_ lost: LostTransactions) -> Any { lost.salvaged }",
      "func f19(_ environment: StoreEnvironment) -> Any { environment.clock }",
      "struct A: Record { var b: [String]\n"
        + "  static let entity = RecordEntity(\"A\", A.init, Property(\"b\", \\.b)) }",
    ]
    let program = try SmallProgram(lines.joined(separator: "\n"))
    let faulty = Set(try program.faultyLines())
    var number = program.firstLine
    for line in lines {
      let count = line.split(separator: "\n").count
      #expect(!faulty.isDisjoint(with: number..<number + count), "\(line) compiles")
      number += count
    }
  }

  /// What the compiler says of a mistake names it, or what is possible instead.
  @Test func mistakesAreExplained() throws {
    let note = """
      struct Note: Record {
        var title: String
        static let entity = RecordEntity("Note", Note.init, Property("title", \\.title))
      }

      """
    func said(_ line: String) throws -> String { try SmallProgram(note + line).said().text }
    for type in ["[String]", "Character", "Character?", "UInt64", "Note?"] {
      let bad = try said(
        """
        struct Bad: Record {
          var a: Int
          var b: \(type)
          static let entity = RecordEntity(
            "Bad", Bad.init, Property("a", \\.a), Property("b", \\.b).indexed())
        }
        """)
      #expect(bad.contains("UInt32, Double, Float, String, Date, UUID"), "\(type): \(bad)")
    }
    let mistyped = try said(
      "func f(_ s: Snapshot) throws { _ = try s.objects(of: Note.self, where: \\.titel == \"x\") }")
    #expect(!mistyped.contains("Note.Type"), "\(mistyped)")
    #expect(mistyped.contains("consider explicitly specifying a root type"), "\(mistyped)")
    let rooted = try said(
      "func f(_ s: Snapshot) throws { _ = try s.fetch(Fetch().where(\\Note.titel == \"x\")) }")
    #expect(rooted.contains("value of type 'Note' has no member 'titel'"), "\(rooted)")
  }

  @Test func messagesNameNoOptionOfTheCommand() throws {
    let sources = packageFolder.appending(path: "Sources")
    let files = try #require(
      FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    var found: [String] = []
    for case let file as URL in files
    where file.pathExtension == "swift" {
      // What the inspector shows is of the command, too.
      if file.path.contains("/Sources/AnnalsInspector/") { continue }
      let text = try String(contentsOf: file, encoding: .utf8)
      for line in text.split(separator: "\n") {
        let code = line.drop { $0 == " " }
        guard !code.hasPrefix("//"), code.contains(#/"[^"]*--[a-z][^"]*"/#) else { continue }
        found.append("\(file.lastPathComponent): \(code)")
      }
    }
    #expect(found.isEmpty, "\(found)")
  }
}

/// A program of one file that imports the library as others do.
private struct SmallProgram {
  private static let head = "import Annals\nimport Foundation\n"
  let text: String

  /// The number of the first line of what was given.
  let firstLine = 3

  init(_ text: String) throws { self.text = SmallProgram.head + text + "\n" }

  /// The lines in which the compiler finds errors.
  func faultyLines() throws -> [Int] {
    let (said, status) = try said()
    let lines = said.matches(of: #/Program\.swift:([0-9]+):[0-9]+: error: /#).compactMap {
      Int($0.output.1)
    }
    // Anything else that went wrong is no answer.
    try #require(!lines.isEmpty == (status != 0), "\(said)")
    return lines
  }

  /// What the compiler says, and its exit status.
  func said() throws -> (text: String, status: Int32) {
    let folder = try TemporaryFolder()
    let file = folder.url("Program.swift")
    try Data(text.utf8).write(to: file)
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
      ["swiftc", "-typecheck", "-parse-as-library", "-swift-version", "6"]
      + (try SmallProgram.searchPaths()).flatMap { ["-I", $0] } + [file.path]
    process.standardError = output
    process.standardOutput = output
    try process.run()
    let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (said, process.terminationStatus)
  }

  /// Where the modules are that were built with this test, and those of C.
  private static func searchPaths() throws -> [String] {
    let modules = try built("Modules/Annals.swiftmodule").deletingLastPathComponent()
    // The folder of the build, wherever it is, has the packages that this one uses.
    var build = modules
    var system: URL { build.appending(path: "checkouts/swift-system/Sources/CSystem/include") }
    while !FileManager.default.fileExists(atPath: system.path) {
      try #require(build.path != "/", "no swift-system in a folder above \(modules.path)")
      build.deleteLastPathComponent()
    }
    return [modules.path, system.path]
      + ["CZlib", "CLinuxCalls", "CProcessor"].map {
        packageFolder.appending(path: "Sources/" + $0).path
      }
  }
}
