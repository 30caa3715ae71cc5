import Foundation

/// Writes a Swift file with the contents of a folder: `embed-page FOLDER FILE`.
@main
struct EmbedPage {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3 else { exit(64) }
    let folder = URL(fileURLWithPath: arguments[1])
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { !$0.hasPrefix(".") }.sorted()
    var text = "let embeddedFiles: [(name: String, base64: String)] = [\n"
    for name in names {
      let bytes = try Data(contentsOf: folder.appending(path: name))
      text += "  (\"\(name)\", \"\(bytes.base64EncodedString())\"),\n"
    }
    text += "]\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: arguments[2]))
  }
}
