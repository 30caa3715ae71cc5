import AnnalsTestSupport
import Testing

/// What `annals-torture` prints, and how it ends.
@Suite struct TortureProgramTests {
  @Test func printsWhatWasTriedAndSurvived() throws {
    let run = try TemporaryFolder.run(
      TemporaryFolder.torture, "--seconds", "3000", "--seed", "7", "--only", "crash/creation/3")
    #expect(run.status == 0)
    let lines = run.output.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(
      lines.prefix(3) == [
        "seed 7, 3000.0 seconds", "",
        "power cut                   points           tried         in full     states left"
          + "       different  after a second",
      ])
    #expect(lines[3].contains(/^creation +[0-9]+ +1 +1 +[0-9]+ +[0-9]+ +[0-9]+$/))
    #expect(lines.dropFirst(4) == ["", "every promise was kept", ""])
  }

  @Test(arguments: ["large-values", "crash/large-values/99999"])
  func refusesACaseThatIsNone(name: String) throws {
    let run = try TemporaryFolder.run(
      TemporaryFolder.torture, "--only", name, "--seconds", "600")
    #expect(run.status == 64)
    #expect(run.output.contains("no case is named `\(name)`. Their names begin with crash/"))
  }

  @Test func refusesATimeThatIsNone() throws {
    #expect(try TemporaryFolder.run(TemporaryFolder.torture, "--seconds", "0").status == 64)
  }
}
