import Foundation

/// What a finding recommends, as commands.
package enum FindingAdvice {
  /// What is said of a file with a foreign beginning.
  static let otherKind = "Check the path: this is another kind of file"

  /// The command that does what a finding recommends; nil if it recommends none.
  static func command(for message: String, of file: String) -> String? {
    if message.contains("smallest file") {
      return CommandWords("compact", flag: "smallest", file).text
    }
    if message.contains("Compact") { return CommandWords("compact", file).text }
    return message.contains("or salvage") ? salvage(file) : nil
  }

  /// The command that saves what can be read of a file.
  static func salvage(_ file: String) -> String {
    CommandWords("salvage", file).adding("OUT").text
  }

  /// Whether the file has a root slot where a store has its two, so that it is one whose beginning
  /// was damaged.
  package static func hasRootSlot(_ file: String) -> Bool {
    guard let handle = FileHandle(forReadingAtPath: file) else { return false }
    defer { try? handle.close() }
    let magic = Data("ANLSROOT".utf8)
    return [UInt64(4096), 8192].contains { offset in
      (try? handle.seek(toOffset: offset)) != nil
        && (try? handle.read(upToCount: magic.count)) == magic
    }
  }
}
