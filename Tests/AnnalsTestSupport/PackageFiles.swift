import Foundation

/// The folder of the package.
package let packageFolder = URL(filePath: #filePath).deletingLastPathComponent()
  .deletingLastPathComponent().deletingLastPathComponent()

/// Where a file of Fixtures is.
package func fixture(_ name: String) -> URL {
  packageFolder.appending(path: "Fixtures/version-1/\(name).annals")
}

/// The text of a file in which an expected one is kept; `text` itself where ANNALS_RECORD is set,
/// which is then written there.
package func golden(_ file: URL, recording text: String) throws -> String {
  if ProcessInfo.processInfo.environment["ANNALS_RECORD"] != nil {
    try Data(text.utf8).write(to: file)
  }
  return try String(contentsOf: file, encoding: .utf8)
}

/// What was built with the tests under this name, such as a program.
package func built(_ name: String) throws -> URL {
  let tests =
    Bundle.allBundles.map(\.bundleURL)
    + [URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()]
  let found = tests.map { $0.deletingLastPathComponent().appending(path: name) }
    .first { FileManager.default.fileExists(atPath: $0.path) }
  guard let found else { throw TestFailure("\(name) is not beside \(tests)") }
  return found
}
