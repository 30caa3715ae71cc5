import Foundation

/// A path in the temporary folder at which nothing is.
func temporaryPath() throws -> String {
  FileManager.default.temporaryDirectory.appending(path: "guide-\(UUID().uuidString).annals").path
}

/// A folder of its own in the temporary one, gone with its last reference.
final class GuideFolder: Sendable {
  private let url = FileManager.default.temporaryDirectory.appending(path: "guide-\(UUID())")

  init() { try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.appending(path: name).path }

  func text(_ name: String) throws -> String {
    try String(contentsOfFile: path(name), encoding: .utf8)
  }

  func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
  }
}
