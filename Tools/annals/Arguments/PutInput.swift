import Annals

/// A parsed `--from NAME=PATH`: a property that is set to the bytes of a file or of standard input.
struct PutInput {
  var name: String
  var path: String

  /// Reads the argument.
  ///
  /// - Throws: `CommandFailure` for a text without `=`, a name or a path.
  init(_ text: String) throws {
    let bytes = text.utf8
    guard let sign = bytes.firstIndex(of: UInt8(ascii: "=")), sign > bytes.startIndex,
      bytes.index(after: sign) < bytes.endIndex
    else {
      throw CommandFailure(
        "--from \(text) names no file; write --from NAME=PATH, or NAME=- for standard input",
        status: .usage)
    }
    name = String(text[..<sign])
    path = String(text[bytes.index(after: sign)...])
  }

  /// Whether the bytes are those of standard input.
  var isStandardInput: Bool { path == "-" }
}
