import Foundation

/// One Swift file of the package, with its code apart from comments and strings.
struct SourceFile: Sendable {
  /// The path from the root of the package.
  let path: String
  /// The text, line by line.
  let lines: [String]
  /// The text with every character of comments and string literals made a space, line by line.
  let code: [String]

  init(path: String, text: String) {
    self.path = path
    lines = Self.lines(of: text)
    code = Self.lines(of: CodeMask.mask(text))
  }

  private static func lines(of text: String) -> [String] {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.last == "" { lines.removeLast() }
    return lines
  }

  /// The module that the file belongs to: the folder in Sources, Tests or Tools/Torture;
  /// AnnalsCommand for the command, which lies in Tools.
  var module: String {
    let parts = path.split(separator: "/").map(String.init)
    if parts.count > 1, parts[0] == "Sources" || parts[0] == "Tests" { return parts[1] }
    if path.hasPrefix("Tools/Torture/Annals") { return parts[2] }
    return path.hasPrefix("Tools/annals/") ? "AnnalsCommand" : parts[0]
  }

  /// Whether it is a test.
  var isTest: Bool { path.hasPrefix("Tests/") }
}

extension SourceFile {
  /// The root of the package.
  static var root: URL {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
  }

  /// All Swift files of the package, without those of its dependencies and nested packages' builds.
  static func all() throws -> [SourceFile] {
    var files = [try read("Package.swift")]
    for folder in ["Sources", "Tests", "Tools"] {
      let enumerator = FileManager.default.enumerator(
        at: root.appending(path: folder), includingPropertiesForKeys: nil,
        options: [.skipsHiddenFiles])
      while let url = enumerator?.nextObject() as? URL {
        guard url.pathExtension == "swift" else { continue }
        files.append(try read(String(url.path.dropFirst(root.path.count + 1))))
      }
    }
    return files.sorted { $0.path < $1.path }
  }

  private static func read(_ path: String) throws -> SourceFile {
    let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
    return SourceFile(path: path, text: text)
  }
}
