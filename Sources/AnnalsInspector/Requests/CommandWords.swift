/// A command line, word by word, that can be pasted into a shell.
package struct CommandWords: Sendable {
  private var words: [String]

  /// `annals VERB FILE`, with a flag before the file if there is one. The path is given whole, and
  /// so is one that begins with a dash.
  package init(_ verb: String, flag: String? = nil, _ file: String) {
    words = ["annals", verb] + (flag.map { ["--" + $0] } ?? [])
    words.append(file.hasPrefix("-") ? "./" + file : file)
  }

  /// Adds words.
  package func adding(_ more: String...) -> CommandWords {
    var copy = self
    copy.words += more
    return copy
  }

  /// Adds an option with its value, unless that is nil.
  package func option(_ name: String, _ value: String?) -> CommandWords {
    guard let value else { return self }
    return adding("--" + name, value)
  }

  /// Adds an option with each of its values.
  package func options(_ name: String, _ values: [String]) -> CommandWords {
    values.reduce(self) { $0.option(name, $1) }
  }

  /// Adds a flag if it is set.
  package func flag(_ name: String, _ isSet: Bool) -> CommandWords {
    isSet ? adding("--" + name) : self
  }

  /// The words, quoted for a shell where that is necessary.
  package var text: String { words.map(CommandWords.quoted).joined(separator: " ") }

  /// A word, quoted for a shell if necessary.
  package static func quoted(_ word: String) -> String {
    let isPlain = word.unicodeScalars.allSatisfy {
      ("a"..."z").contains($0) || ("A"..."Z").contains($0) || ("0"..."9").contains($0)
        || "-_./,@:".unicodeScalars.contains($0)
    }
    return isPlain && !word.isEmpty ? word : "'\(word.replacing("'", with: "'\\''"))'"
  }
}
