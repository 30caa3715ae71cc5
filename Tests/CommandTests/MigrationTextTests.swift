import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsCommand

/// What `log`, `show`, `schema`, `stat` and `dump` print of migrations, as in
/// Tests/Golden/migrations.txt.
@Suite struct MigrationTextTests {
  private static let before = Schema {
    Entity("Note", displayName: "title") {
      Attribute("title", .string)
      Attribute("when", .string)
    }
  }

  private static let after = Schema {
    Entity("Note", displayName: "title") {
      Attribute("title", .string)
      Attribute("when", .date)
      Attribute("pages", .int64, isOptional: false)
    }
  }

  private static let commands = """
    log @m.annals
    log @m.annals --oneline
    log @m.annals --format jsonl
    show @m.annals 3
    show @m.annals 4
    show @m.annals 3 --format jsonl
    schema @m.annals
    schema @m.annals --at 3
    diff @m.annals 2 head
    undo @m.annals --dry-run
    revert @m.annals 4
    stat @m.annals
    prune @m.annals --before 4 --yes
    schema @m.annals
    export @m.annals
    """

  @Test func everyTextOfAMigration() throws {
    let folder = try CommandFolder()
    let path = folder.file("m.annals")
    let environment = StoreEnvironment.fixed(processName: "notes", processID: 41)
    try Store.with(path: path, schema: MigrationTextTests.before, environment: environment) {
      try $0.write(author: "ann") { tx in
        try tx.insert("Note", ["title": "Fog", "when": "10"])
        try tx.insert("Note", ["title": "Mist", "when": "20"])
      }
    }
    let migrations = [
      Migration("count the \u{1F4C4}") { tx in
        for note in try tx.objects(of: "Note") { try tx.update(note.id, ["pages": 1]) }
      },
      Migration("dates") { tx in
        try tx.convert("Note", "when", to: .date) { old in
          guard case .string(let text) = old, let seconds = Int64(text) else { return nil }
          return .date(Timestamp(microseconds: seconds * 1_000_000))
        }
      },
    ]
    try Store.with(
      path: path, schema: MigrationTextTests.after, migrations: migrations,
      environment: environment
    ) { _ in }
    var text = ""
    for command in MigrationTextTests.commands.split(separator: "\n") {
      let run = folder.run(command.split(separator: " ").map(String.init))
      text += "$ annals \(command)\n\(run.output)\(run.errors)-> \(run.status.rawValue)\n\n"
    }
    let expected = try golden(
      packageFolder.appending(path: "Tests/Golden/migrations.txt"), recording: text)
    for (told, wanted) in zip(text.split(separator: "\n\n"), expected.split(separator: "\n\n")) {
      #expect(told == wanted)
    }
    #expect(text == expected, "set ANNALS_RECORD to write it anew, and read what changed")
  }

  @Test func defaultsOfDecimalsAndDaysArePlain() throws {
    let folder = try CommandFolder()
    let schema = Schema {
      Entity("Item") {
        Attribute(
          "price", .decimal, default: .decimal(RawDecimal("9.99") ?? .zero),
          validation: Validation(minimum: .decimal(.zero)))
        Attribute("due", .day, default: CalendarDay("2019-10-06").map { .day($0) })
        Attribute("any", .any, default: .decimal(RawDecimal("9.99") ?? .zero))
      }
    }
    try Store.with(path: folder.file("d.annals"), schema: schema) { _ in }
    let run = folder.run("schema", "@d.annals")
    #expect(
      run.output == """
        Item
          price: decimal, default 9.99, from 0
          due: day, default 2019-10-06
          any: any, default DECIMAL("9.99")

        """, "\(run)")
    #expect(folder.run("put", "@d.annals", "Item/1", "price=9.99", "due=2019-10-06").errors != "x")
  }
}
