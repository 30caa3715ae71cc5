import Annals
import AnnalsExchange

/// A parsed `NAME=TEXT` or `NAME:=JSON`.
struct Assignment: Hashable {
  /// The new value.
  enum Content: Hashable {
    case text(String)
    case json(String)
    case nothing
  }

  var name: String
  var content: Content
}

extension Assignment {
  /// Reads an assignment.
  ///
  /// - Throws: `CommandFailure` for a text without `=` or a name, and for invalid JSON.
  init(_ text: String) throws {
    // By bytes: a text may begin with a combining accent, which joins the character before it.
    let bytes = text.utf8
    guard let sign = bytes.firstIndex(of: UInt8(ascii: "=")), sign > bytes.startIndex else {
      throw CommandFailure("`\(text)` sets nothing; write NAME=TEXT or NAME:=JSON", status: .usage)
    }
    let value = String(text[bytes.index(after: sign)...])
    let before = bytes[..<sign]
    guard before.last == UInt8(ascii: ":"), before.count > 1 else {
      name = String(text[..<sign])
      content = .text(value)
      return
    }
    name = String(text[..<bytes.index(before: sign)])
    if let offset = JSONText.firstError(in: value) {
      throw CommandFailure(
        "`\(value)` is not JSON (at byte \(offset)); a text in JSON needs quotes, or write "
          + "\(name)=TEXT", status: .usage)
    }
    content = .json(value)
  }

  /// The assignment that clears a property.
  init(clearing name: String) {
    self.name = name
    content = .nothing
  }
}
