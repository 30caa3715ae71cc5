import Annals
import AnnalsModel
import Foundation
import Testing

/// A `Date` that is not a number was 1970, and an infinite one the first or last moment.
@Suite struct NoDateTests {
  // Foundation's description of a date that is not a number traps, so tests are not given dates.
  static let none = [Double.nan, .infinity, -.infinity, .signalingNaN]

  @Test(arguments: none) func isNoPosition(seconds: Double) throws {
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    let store = try noteStore()
    let note = try store.note("a")
    let calls: [() throws -> Void] = [
      { _ = try store.snapshot(at: date) }, { _ = try store.token(at: date) },
      { _ = try store.history(after: date) }, { _ = try store.history(before: date) },
      { _ = try store.history(where: .since(date)) },
      { _ = try store.history(where: !(.until(date) && .author == "a")) },
      { _ = try store.changes(after: date) }, { _ = try store.changes(where: .until(date)) },
      { _ = try store.prunePlan(before: date) }, { _ = try store.diff(from: date, to: 2) },
      { _ = try store.blame(note, at: date) }, { _ = try store.revertPlan(date) },
      { _ = try store.consumer("c", startingAfter: date) },
      { try store.replay(to: "/copy.annals", at: date) },
    ]
    for (number, call) in calls.enumerated() {
      let error = #expect(throws: AnnalsError.self, "\(number)") { try call() }
      #expect(error?.code == .invalidArgument, "\(number)")
      #expect(error?.message == "a date that is infinite or not a number is no moment")
    }
    #expect(store.consumers.isEmpty)
  }

  @Test(arguments: none) func isNoValue(seconds: Double) throws {
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    let schema = Schema {
      Entity("Event") {
        Attribute("date", .date)
        Attribute("any", .any)
      }
    }
    let store = try Store(.memory, schema: schema, environment: .fixed())
    for name in ["date", "any"] {
      let error = #expect(throws: AnnalsError.self) {
        try store.write { try $0.insert("Event", [name: .date(date)]) }
      }
      #expect(error?.code == .invalidChange)
    }
    let definition = TimelineDefinition("Event", start: "date")
    #expect(throws: AnnalsError.self) { try store.snapshot().timeline(definition, now: date) }
    let rows = try store.snapshot().timeline(definition)
    #expect(rows.positions(from: date, to: .now).isEmpty)
    #expect(!CalendarBucket(range: .min..<(.max), label: "").contains(date))
  }
}
