import Foundation
import Testing

@testable import AnnalsCommand

/// What was probably meant: taken as that, or said.
@Suite struct MeantTests {
  /// A store with books and a loan of one.
  private func loans() throws -> CommandFolder {
    let folder = try CommandFolder()
    try folder.write(
      #"{"entities":[{"name":"Book","display":"title","attributes":[{"name":"isbn","#
        + #""type":"string","unique":true},{"name":"title","type":"string"}]},"#
        + #"{"name":"Loan","attributes":[{"name":"id","type":"string","unique":true},"#
        + #"{"name":"note","type":"string"}],"relationships":[{"name":"book","#
        + #""to":"Book"}]}]}"#, to: "s.json")
    try folder.write("", to: "none")
    let made = folder.run("import", "@l.annals", "@none", "--schema", "@s.json")
    #expect(made.status == .done, "\(made)")
    folder.run("put", "@l.annals", "Book/978-1", "title=Fog")
    folder.run("put", "@l.annals", "Book/978-2", "title=Mist")
    return folder
  }

  @Test func aReferenceIsAKeyOrAnObject() throws {
    let folder = try loans()
    for (text, key) in [("978-1", "978-1"), ("Book/978-2", "978-2"), ("Book#1", "978-1")] {
      let put = folder.run("put", "@l.annals", "Loan/9", "book=\(text)")
      #expect(put.status == .done, "\(put)")
      let state = folder.run("state", "@l.annals", "--entity", "Loan").output
      #expect(state.contains(#""book":"\#(key)""#), "\(state)")
    }
    let none = folder.run("put", "@l.annals", "Loan/9", "book=Book/978-3")
    let reason = "`book` names Book/978-3, which does not exist: it refers to Book"
    #expect(none.errors.contains(reason), "\(none)")
  }

  @Test func aPropertyOfAnotherEntityIsNamed() throws {
    let folder = try loans()
    let run = folder.run("log", "@l.annals", "--entity", "Book", "--property", "note")
    #expect(run.status == .couldNotRun)
    #expect(
      run.errors
        == "annals: Book has no property note, nor had one; annals schema @l.annals lists them\n")
    let both = folder.run(
      "log", "@l.annals", "--entity", "Book", "--entity", "Loan", "--property", "note")
    #expect(both.status == .done && both.output == "")
  }

  @Test func aChangeOfTheSchemaIsNotUndone() throws {
    let folder = try loans()
    let run = folder.run("revert", "@l.annals", "1", "--yes")
    #expect(run.status == .couldNotRun)
    #expect(
      run.errors.hasPrefix(
        "annals: transaction 1 changed the schema of Book, Loan, which cannot be reverted; "
          + "nothing was recorded. The state before it, as of 0, has "), "\(run.errors)")
    let shown = folder.run("show", "@l.annals", "1").output
    #expect(shown.contains("    schema of Book\n        + isbn: string\n"), "\(shown)")
    #expect(shown.contains("        + book: Book\n"), "\(shown)")
  }

  @Test func textsThatAreNoDatesAreSaid() throws {
    let folder = try loans()
    let run = folder.run("query", "@l.annals", "Book", "--group-by", "day:title")
    #expect(run.status == .done)
    #expect(
      run.errors == "annals: note: not one of the 2 values of title is a date, so --group-by day: "
        + "makes one group of them\n")
    folder.run("put", "@l.annals", "Book/978-3", "title=2004-05-17")
    let dated = folder.run("query", "@l.annals", "Book", "--group-by", "day:title")
    #expect(dated.errors == "")
  }

  @Test func anErasureCountsWhatItTouches() throws {
    let folder = try loans()
    folder.run("put", "@l.annals", "Book/978-1", "isbn=978-9")
    let plan = folder.run(
      "erase", "@l.annals", "Book/978-9", "--property", "title", "--reason", "r", "--dry-run")
    #expect(plan.output == "erases title of Book#1, now and in 1 transaction\n")
  }

  @Test func livesAreNamedAsInTheLog() throws {
    let folder = try loans()
    folder.run("put", "@l.annals", "Book/978-2", "title=Dew")
    let lives = folder.run("timeline", "@l.annals", "--lifetimes", "--hide-ongoing").output
    #expect(lives.contains("  Fog  ") && lives.contains("  Dew  "), "\(lives)")
    let lines = folder.run("timeline", "@l.annals", "--lifetimes", "--format", "jsonl").output
    #expect(lines.contains(#""Book/978-2""#), "\(lines)")
  }

  @Test func aDamagedFirstByteIsToldFromAnotherFile() throws {
    let folder = try CommandTests.posts()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file("posts.annals")))
    bytes[0] ^= 1
    try bytes.write(to: URL(fileURLWithPath: folder.file("bad.annals")))
    let log = folder.run("log", "@bad.annals")
    #expect(log.errors.hasSuffix("annals salvage @bad.annals OUT saves what can be read.\n"))
    let verified = folder.run("verify", "@bad.annals")
    #expect(verified.output.contains("(annals salvage @bad.annals OUT)"), "\(verified)")
  }

  @Test func whyOutputFailsIsSaid() {
    let fault = OutputFault(NSError(domain: NSPOSIXErrorDomain, code: Int(EBADF)))
    guard case .failed(let reason) = fault else {
      Issue.record("\(fault)")
      return
    }
    #expect(reason == "standard output is closed")
  }
}
