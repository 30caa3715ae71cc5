import Foundation

/// Paths of a repository as keys of objects.
enum GitPath {
  /// The path as text, with each byte that is not UTF-8 as `\xHH`.
  static func text(_ path: Data) -> (text: String, isEscaped: Bool) {
    if let text = String(validating: path, as: UTF8.self) { return (text, false) }
    var result = ""
    var rest = path[...]
    while let first = rest.first {
      // The shortest prefix that is valid UTF-8; at most four bytes.
      let length = (1...4).first {
        $0 <= rest.count && String(validating: rest.prefix($0), as: UTF8.self) != nil
      }
      if let length {
        result += String(decoding: rest.prefix(length), as: UTF8.self)
        rest = rest.dropFirst(length)
      } else {
        result += first.escaped
        rest = rest.dropFirst()
      }
    }
    return (result, true)
  }
}
