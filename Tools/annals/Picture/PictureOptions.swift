import ArgumentParser
import Foundation

/// The options of a verb that draws a picture, and the file that it goes to.
struct PictureOptions: ParsableArguments {
  @Option(
    parsing: .unconditional, help: "Draw it into this file, as SVG; - is the standard output.",
    completion: .file())
  var svg: String?
  @Flag(help: "Replace an SVG that is there.") var force = false

  /// Throws for options that make no sense together.
  func check() throws {
    guard svg != nil || !force else {
      throw ValidationError("--force is for --svg: it replaces the picture that is there")
    }
  }

  /// Writes a picture to its file, and says what is in it; `-` is standard output.
  func write(_ picture: String, _ notes: [String], _ console: Console) throws -> ExitStatus {
    guard let path = svg, path != "-" else {
      try console.output.write(picture)
      return .done
    }
    let isNew = try !replacesPicture(at: path)
    if isNew { try reserve(path) }
    do {
      try Data(picture.utf8).write(to: URL(fileURLWithPath: path))
    } catch {
      if isNew { try? FileManager.default.removeItem(atPath: path) }
      throw CommandFailure("\(path) could not be written: \(error.localizedDescription)")
    }
    try console.output.line("\(path): \(notes.joined(separator: ", "))")
    return .done
  }

  /// Whether `--force` replaces what is there: only an SVG or an empty file, so that a mistyped
  /// path costs no store.
  private func replacesPicture(at path: String) throws -> Bool {
    guard force, FileManager.default.fileExists(atPath: path) else { return false }
    let start = try? FileHandle(forReadingFrom: URL(fileURLWithPath: path)).read(upToCount: 5)
    guard [Data("<svg ".utf8), Data("<?xml".utf8), Data(), nil].contains(start) else {
      throw CommandFailure("\(path) exists and is no SVG; choose another name")
    }
    return true
  }

  /// Makes an empty file, unless anything has the name, even a symbolic link that leads nowhere.
  private func reserve(_ path: String) throws {
    do {
      try Data().write(to: URL(fileURLWithPath: path), options: .withoutOverwriting)
    } catch let error as CocoaError where error.code == .fileWriteFileExists {
      throw CommandFailure(
        "\(path) exists already; choose another name, or say --force to replace a picture")
    } catch {
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent().relativePath
      let reason =
        FileManager.default.fileExists(atPath: folder)
        ? error.localizedDescription : "there is no directory \(folder); create it first"
      throw CommandFailure("\(path) could not be written: \(reason)")
    }
  }
}
