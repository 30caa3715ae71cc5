import Testing

@testable import AnnalsCommand

/// `backup` copies a store whole, and overwrites nothing.
@Suite struct BackupTests {
  @Test func itCopiesAndSaysWhat() throws {
    let folder = try CommandFolder()
    for text in ["one", "two"] { folder.run("put", "@p.annals", "Note/\(text)", "text=a text") }
    let run = folder.run("backup", "@p.annals", "@copy.annals")
    #expect(run.status == .done, "\(run)")
    #expect(run.output == "@copy.annals: 2 transactions, up to 2, verified\n")
    #expect(folder.run("log", "@copy.annals").output == folder.run("log", "@p.annals").output)
    let again = folder.run("backup", "@p.annals", "@copy.annals")
    #expect(again.status == .couldNotRun, "\(again)")
    #expect(again.errors.contains("exists already"), "\(again)")
  }
}
