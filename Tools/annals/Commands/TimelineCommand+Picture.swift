import Foundation

extension TimelineCommand {
  /// Draws the timeline into a file; `-` is standard output.
  ///
  /// An existing file is overwritten only if it is an SVG or empty, so that a mistyped path costs
  /// no store.
  func draw(_ sheet: TimelineSheet, into path: String, _ console: Console) throws -> ExitStatus {
    let picture = try sheet.picture()
    if path == "-" {
      try console.output.write(picture.svg)
      return .done
    }
    if FileManager.default.fileExists(atPath: path) {
      let start = try? FileHandle(forReadingFrom: URL(fileURLWithPath: path)).read(upToCount: 5)
      guard let start, [Data("<svg ".utf8), Data("<?xml".utf8), Data()].contains(start) else {
        throw CommandFailure("\(path) exists and is no SVG; choose another name")
      }
    }
    do {
      try Data(picture.svg.utf8).write(to: URL(fileURLWithPath: path))
    } catch {
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent().relativePath
      let reason =
        FileManager.default.fileExists(atPath: folder)
        ? error.localizedDescription : "there is no directory \(folder); create it first"
      throw CommandFailure("\(path) could not be written: \(reason)")
    }
    try console.output.line("\(path): \(picture.notes.joined(separator: ", "))")
    return .done
  }
}
