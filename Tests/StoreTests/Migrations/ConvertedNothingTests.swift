import Annals
import AnnalsModel
import Foundation
import Testing

/// Where a conversion gives no value though one is required, that migration fails, whichever comes
/// after it.
@Suite struct ConvertedNothingTests {
  @Test func theMigrationThatGivesNothingIsNamed() throws {
    for place in 0...2 {
      let file = try fileBeforeMigrations()
      let convert = Migration("dates") { tx in
        try tx.convert(\After.Note.when) { (old: String) in old == "10" ? .now : nil }
      }
      var migrations = [After.split(), Migration("nothing") { _ in }]
      migrations.insert(convert, at: place)
      let error = #expect(throws: AnnalsError.self) { _ = try After.store(file, migrations) }
      #expect(error?.code == .migrationFailed)
      #expect(error?.message.contains("\"dates\"") == true, "\(place): \(error?.message ?? "")")
      let violations = (error?.thrown as? AnnalsError)?.violations ?? []
      #expect(violations.map { "\($0.entity)/\($0.key ?? "").\($0.property)" } == ["Note/2.when"])
      let read = try Store(file, creates: false)
      #expect(read.migrations.map(\.name) == migrations.prefix(place).map(\.name))
      let plan = try Before.store(file, readOnly: true).migrationPlan(
        records: After.Person.self, After.Note.self, migrations: migrations)
      #expect(!plan.isPossible && plan.steps.last?.name == "dates", "\(plan)")
    }
  }
}
