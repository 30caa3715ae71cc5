import Testing

@testable import AnnalsCommand

/// The form of `annals torture`; what it does is tested where it is.
@Suite struct TortureCommandTests {
  @Test func printsWhatWasTriedAndSurvived() throws {
    let folder = try CommandFolder()
    let run = folder.run(
      "torture", "--seconds", "3000", "--seed", "7", "--only", "crash/creation/3")
    #expect(run.status == .done)
    #expect(run.errors == "")
    let lines = run.output.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(
      lines.prefix(3) == [
        "seed 7, 3,000.0 seconds", "",
        "power cut                   points           tried         in full     states left"
          + "       different  after a second",
      ])
    #expect(lines[3].contains(/^creation +[0-9]+ +1 +1 +[0-9]+ +[0-9]+ +[0-9]+$/))
    #expect(lines.dropFirst(4) == ["", "every promise was kept", ""])
  }

  @Test(arguments: ["large-values", "crash/large-values/99999"])
  func refusesACaseThatIsNone(name: String) throws {
    let folder = try CommandFolder()
    let run = folder.run("torture", "--only", name, "--seconds", "600")
    #expect(run.status == .couldNotRun)
    #expect(
      run.errors.hasPrefix("annals: no case is named `\(name)`. Their names begin with crash/"))
  }

  @Test func refusesATimeThatIsNone() throws {
    #expect(try CommandFolder().run("torture", "--seconds", "0").status == .usage)
  }
}
