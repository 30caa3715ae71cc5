import Foundation
import Testing

/// The program in README.md compiles, and does what the page says.
@Suite struct ReadmeTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  @Test func programIsTheOneThatIsCompiled() throws {
    let page = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
    let program = try String(
      contentsOf: Self.root.appending(path: "Tests/ReadmeProgram/main.swift"), encoding: .utf8)
    #expect(page.contains("```swift\n" + program + "```\n"), "README.md shows another program")
  }

  @Test func programRuns() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "readme-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let program = try BuiltProgram("ReadmeProgram", [], in: folder)
    #expect(program.finish() == 0)
    #expect(program.lines == ["now: Misty Morning", "then: Fog", "me wrote over Fog"])
  }
}
