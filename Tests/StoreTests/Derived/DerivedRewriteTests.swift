import Annals
import AnnalsEngine
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsSalvage
import AnnalsStorage
import AnnalsTestSupport
import Testing

/// Derived values through prunes and salvages, and those that a failed recomputation left erased.
@Suite struct DerivedRewriteTests {
  private let file = memoryFile()

  /// A store of lines and events with some history.
  private func filled() throws -> Store {
    let store = try derivedStore(file)
    let (red, blue) = try store.write {
      (try $0.insert(DerivedLine(name: "Rot")), try $0.insert(DerivedLine(name: "Blau")))
    }
    for amount in 1...4 {
      try store.write {
        try $0.insert(
          DerivedEvent(
            title: "e\(amount)", amount: amount, line: (amount % 2 == 0 ? red : blue).reference))
      }
    }
    try store.write { tx in
      try tx.insert(DerivedList(lines: [red.reference, blue.reference]))
      for event in try tx.objects(of: DerivedEvent.self) where event.value.amount == 3 {
        try tx.delete(event)
      }
    }
    return store
  }

  private func numbers(_ snapshot: Snapshot) throws -> [String] {
    try snapshot.objects(of: "Line").map { "\($0["key"]) \($0["count"]) \($0["total"])" }
      + snapshot.objects(of: "List").map { "\($0["size"]) \($0["total"])" }
  }

  @Test func prunesKeepThemAndTheirRules() throws {
    let store = try filled()
    let states = try (5...store.token.number).map { try numbers(store.snapshot(at: $0)) }
    try store.prune(store.prunePlan(before: 6))
    #expect(try (5...store.token.number).map { try numbers(store.snapshot(at: $0)) } == states)
    #expect(store.version.view.features.contains(.derivations))
    try store.close()
    let again = try derivedStore(file)
    #expect(try again.problems().isEmpty)
    try again.write { tx in
      for event in try tx.objects(of: DerivedEvent.self) {
        try tx.update(event) { $0.amount = 10 }
      }
    }
    #expect(try again.snapshot().objects(of: DerivedLine.self).map(\.value.total) == [20, 10])
    #expect(try again.problems().isEmpty)
  }

  /// Whichever transaction is lost: what is derived is what follows from what was found, or verify
  /// notes it; and the next change of what it is derived from makes it right.
  @Test func salvagesKeepThem() throws {
    let store = try filled()
    try store.close()
    let bytes = try file.fileSystem.contents(of: file.path)
    let frames = try file.fileSystem.frames(of: file.path, .transaction, .block)
    #expect(frames.count > 5)
    for frame in frames {
      let damaged = memoryFile()
      try damaged.fileSystem.put(bytes, at: damaged.path)
      try damaged.fileSystem.flip(4, at: frame.offset + 30, of: damaged.path)
      _ = try Store.salvage(damaged, to: "/saved.annals", environment: .fixed())
      let saved = try derivedStore(
        StoreLocation(fileSystem: damaged.fileSystem, path: "/saved.annals"))
      // What a lost transaction inserted may lack its name.
      try saved.write { tx in
        for line in try tx.objects(of: "Line") where line["name"].isNull {
          try tx.update(line.id, ["name": .string("lost \(line.id.row)")])
        }
        for event in try tx.objects(of: "Event") where event["title"].isNull {
          try tx.update(event.id, ["title": "lost"])
        }
      }
      #expect(saved.version.view.features.contains(.derivations))
      #expect(try saved.problems().isEmpty, "\(frame.offset)")
      let amounts = try saved.write { tx in
        let lines = try tx.objects(of: DerivedLine.self)
        var amounts: [ObjectID: Int] = [:]
        for line in lines { amounts[line.objectID] = 0 }
        for event in try tx.objects(of: DerivedEvent.self) {
          try tx.update(event) { $0.amount = 7 }
          if let line = event.value.line { amounts[line.objectID, default: 0] += 7 }
        }
        return amounts
      }
      for line in try saved.snapshot().objects(of: DerivedLine.self) {
        guard let amount = amounts[line.objectID], amount > 0 else { continue }
        #expect(line.value.total == amount, "\(frame.offset)")
      }
      #expect(try saved.problems().isEmpty, "\(frame.offset)")
    }
  }

  private struct Tally: Record {
    var name: String
    var total = 0
    var text = ""
    static let entity = RecordEntity(
      "Tally", Tally.init, Property("name", \.name),
      Property("total", \.total).derived(.sum(\.marks, \.amount)),
      Property("text", \.text).derived(version: 1, from: \.total) { "total \($0)" })

    static let marks = Inverse(\Mark.tally)
  }

  private struct Mark: Record {
    var amount: Int?
    var tally: Reference<Tally>?
    static let entity = RecordEntity(
      "Mark", Mark.init, Property("amount", \.amount), Property("tally", \.tally))
  }

  /// A tool without the program's function erases what it reads of, and cannot compute the rest.
  @Test func verifyTellsWhatAFailedRecomputationLeftErased() throws {
    let program = try Store(file, records: Tally.self, Mark.self, environment: .fixed())
    let (tally, secret) = try program.write { tx in
      let tally = try tx.insert(Tally(name: "a"))
      try tx.insert(Mark(amount: 6, tally: tally.reference))
      return (tally, try tx.insert(Mark(amount: 9, tally: tally.reference)))
    }
    #expect(try program.snapshot().objects(of: Tally.self)[0].value.text == "total 15")
    try program.close()
    func left(_ store: Store) throws -> [StoreFinding] {
      try store.verify().filter { $0.message.contains("is erased in") }
    }
    let tool = try Store(file, creates: false, environment: .fixed())
    let failed = #expect(throws: AnnalsError.self) {
      try tool.erase(secret.objectID, properties: ["amount"], reason: "asked")
    }
    #expect(failed?.message.hasPrefix("the values are erased; ") == true)
    let told = try left(tool)
    #expect(told.map(\.severity) == [.note], "\(told)")
    #expect(told.first?.message.hasPrefix("Tally.total is erased in Tally") == true, "\(told)")
    try tool.close()
    let again = try Store(file, records: Tally.self, Mark.self, environment: .fixed())
    #expect(try left(again).count == 1)
    try again.write { try $0.insert(Mark(amount: 1, tally: tally.reference)) }
    #expect(try left(again).isEmpty && again.problems().isEmpty)
    #expect(try again.snapshot().objects(of: Tally.self)[0].value.text == "total 7")
  }
}
