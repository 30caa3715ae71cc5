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
    // The program lies beside the test bundle that runs this.
    let built =
      Bundle.allBundles.map(\.bundleURL)
      + [URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()]
    let program = try #require(
      built.map { $0.deletingLastPathComponent().appending(path: "ReadmeProgram") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) })
    let process = Process()
    let output = Pipe()
    process.executableURL = program
    process.currentDirectoryURL = folder
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(text == "now: Misty Morning\nthen: Fog\nme wrote over Fog\n")
  }
}
