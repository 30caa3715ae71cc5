import AnnalsTestSupport
import Foundation
import Testing

/// The program in README.md compiles, and does what the page says.
@Suite(.deadline) struct ReadmeTests {
  @Test func programIsTheOneThatIsCompiled() throws {
    let page = try String(contentsOf: packageFolder.appending(path: "README.md"), encoding: .utf8)
    let program = try String(
      contentsOf: packageFolder.appending(path: "Tests/ReadmeProgram/main.swift"), encoding: .utf8)
    #expect(page.contains("```swift\n" + program + "```\n"), "README.md shows another program")
  }

  @Test func programRuns() throws {
    let folder = try TemporaryFolder()
    let program = try BuiltProgram("ReadmeProgram", [], in: folder.url)
    #expect(program.finish() == 0)
    #expect(program.lines == ["now: Misty Morning", "then: Fog", "me wrote over Fog"])
  }
}
