import Annals

/// A range of bytes as HTTP and curl write it: `0-499` the first 500, `500-` all from there, `-500`
/// the last 500.
struct ByteRange: Equatable {
  /// The first and the last byte, both counted from 0; nil if left out.
  var first: Int?
  var last: Int?

  /// Reads the argument.
  ///
  /// - Throws: `CommandFailure` for anything else.
  init(_ text: String) throws {
    let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    func number(_ part: Substring) throws -> Int? {
      if part.isEmpty { return nil }
      guard part.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(part) else {
        throw CommandFailure.range(text)
      }
      return number
    }
    guard parts.count == 2 else { throw CommandFailure.range(text) }
    (first, last) = (try number(parts[0]), try number(parts[1]))
    guard first != nil || last != nil, (first ?? 0) <= (last ?? .max) else {
      throw CommandFailure.range(text)
    }
  }

  /// The range in a value of so many bytes; empty where it lies behind the end.
  func range(in count: Int) -> Range<Int> {
    guard let first else { return max(0, count - (last ?? 0))..<count }
    let end = last.map { $0 < count ? $0 + 1 : count } ?? count
    return min(first, count)..<max(min(first, count), end)
  }
}

extension CommandFailure {
  fileprivate static func range(_ text: String) -> CommandFailure {
    CommandFailure(
      "--range \(text) is no range of bytes; write FIRST-LAST, FIRST- or -COUNT, counted from 0",
      status: .usage)
  }
}
