import Annals
import AnnalsModel
import Testing

/// What a dry run of migrations counts, shows and refuses, at the limits of what it lists.
@Suite struct MigrationPlanTests {
  private struct Row: Record {
    var number: Int
    var text: String?
    static let entity = RecordEntity(
      "Row", Row.init, Property("number", \.number), Property("text", \.text))
  }

  private struct NeedyRow: Record {
    var number: Int
    var text: String?
    var word: String
    static let entity = RecordEntity(
      "Row", NeedyRow.init, Property("number", \.number), Property("text", \.text),
      Property("word", \.word))
  }

  private struct TextRow: Record {
    var number: String
    var word: String?
    static let entity = RecordEntity(
      "Row", TextRow.init, Property("number", \.number), Property("word", \.word))
  }

  /// What one property becomes is told as that, and not as one that comes and one that goes.
  @Test func aConversionIsNoRemoval() throws {
    let store = try store(2)
    let convert = Migration("as text") { tx in
      try tx.convert(\TextRow.number) { (old: Int) in "\(old)" }
      try tx.remove("Row", "text")
    }
    let step = try #require(
      store.migrationPlan(records: TextRow.self, migrations: [convert]).steps.first)
    #expect(step.converted == ["Row.number"])
    #expect(step.removed == ["Row.text"] && step.added == ["Row.word"])
  }

  private func store(_ count: Int) throws -> Store {
    let store = try Store(.memory, records: Row.self, environment: .fixed())
    try store.write { tx in for number in 0..<count { try tx.insert(Row(number: number)) } }
    return store
  }

  @Test(arguments: [1, 9, 10, 11, 12, 30]) func tenChangesAreShownAndAllAreCounted(_ count: Int)
    throws
  {
    let store = try store(count)
    let inserts = count / 2 + 1
    let fill: @Sendable (WriteTransaction) throws -> Void = { tx in
      for row in try tx.objects(of: "Row") {
        try tx.update(row.objectID, ["text": "x"])
      }
      for number in 0..<inserts { try tx.insert("Row", ["number": .int(Int64(100 + number))]) }
    }
    let clear: @Sendable (WriteTransaction) throws -> Void = { tx in
      for row in try tx.objects(of: "Row") {
        guard case .int(let number) = row["number"] else { continue }
        if number < 3 { try tx.delete(row.objectID) }
        if number == 3 { try tx.update(row.objectID, ["text": .null]) }
      }
    }
    let plan = store.migrationPlan(
      records: Row.self, migrations: [Migration("fill", fill), Migration("clear", clear)])
    try #require(plan.steps.count == 2)
    let deletes = min(count, 3)
    let updates = count > 3 ? 1 : 0
    #expect(plan.steps[0].changes.count == min(count + inserts, 10))
    #expect(plan.steps[1].changes.count == deletes + updates)
    let counts = plan.steps.map { $0.counts.map { [$0.inserted, $0.updated, $0.deleted] } }
    #expect(counts == [[[inserts, count, 0]], [[0, updates, deletes]]])
    let text = plan.description.split(separator: "\n").map(String.init)
    #expect(
      text.filter { $0.contains(" inserted, ") } == [
        "  Row: \(inserts) inserted, \(count) updated, 0 deleted",
        "  Row: 0 inserted, \(updates) updated, \(deletes) deleted",
      ])
    // It is what is done.
    let before = store.token
    for step in [fill, clear] { try store.write(step) }
    let made = try store.history(after: before).collect(limit: 10).map { transaction in
      [ChangeKind.insert, .update, .delete].map { kind in
        transaction.changes.count { $0.kind == kind }
      }
    }
    #expect(made == counts.map { $0[0] })
  }

  @Test(arguments: [1, 19, 20, 21, 22, 50]) func twentyViolationsArePrinted(_ count: Int) throws {
    let store = try store(count)
    let none = Migration("none") { _ in }
    let plan = store.migrationPlan(records: NeedyRow.self, migrations: [none])
    #expect(!plan.isPossible && plan.steps.map(\.violations.count) == [count], "\(plan)")
    let lines = plan.description.split(separator: "\n").filter { $0.hasPrefix("  refused: ") }
    let more = count > 20 ? ["  refused: \(count - 20) more"] : []
    #expect(lines.count == min(count, 20) + more.count, "\(plan)")
    #expect(lines.filter { $0.hasSuffix(" more") }.map(String.init) == more, "\(plan)")
  }
}
