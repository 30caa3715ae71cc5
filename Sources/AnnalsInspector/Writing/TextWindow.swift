import AnnalsModel

/// What is around the differences of two texts of which one is too long to be shown whole.
struct TextWindow: Hashable {
  let before: String
  let after: String
  /// How many bytes of UTF-8 are left out at the beginning of both; they are the same.
  let start: Int
  /// Whether all that differs is shown: what is left out behind it is the same, too.
  let isWhole: Bool

  /// So many bytes are shown before and behind what differs, or fewer.
  private static let context = 60

  /// Nil for equal texts. Shows `cut` bytes of each, and the context. O(length).
  init?(_ before: String, _ after: String, cut: Int) {
    let (before, after) = (Array(before.utf8), Array(after.utf8))
    let most = min(before.count, after.count)
    var head = 0
    while head < most, before[head] == after[head] { head += 1 }
    if head == before.count, head == after.count { return nil }
    var tail = 0
    while tail < most - head, before[before.count - 1 - tail] == after[after.count - 1 - tail] {
      tail += 1
    }
    head = TextWindow.boundary(head, in: before)
    while tail > 0, UTF8.isContinuation(before[before.count - tail]) { tail -= 1 }
    let start = TextWindow.start(before: head, in: before)
    let room = cut + 2 * TextWindow.context
    let middle = max(before.count, after.count) - tail - start
    let isWhole = middle <= room
    let shown = isWhole ? min(tail, TextWindow.context, room - middle) : 0
    func text(_ bytes: [UInt8]) -> String {
      let end = isWhole ? bytes.count - tail + shown : min(bytes.count, start + room)
      return String(decoding: bytes[start..<TextWindow.boundary(end, in: bytes)], as: UTF8.self)
    }
    (self.before, self.after) = (text(before), text(after))
    (self.start, self.isWhole) = (start, isWhole)
  }

  /// Where to begin: with the line that differs, if it is near.
  private static func start(before head: Int, in bytes: [UInt8]) -> Int {
    let least = max(0, head - context)
    if let line = bytes[least..<head].lastIndex(of: UInt8(ascii: "\n")) { return line + 1 }
    return boundary(least, in: bytes)
  }

  /// The place or, within a character, that of its first byte.
  private static func boundary(_ place: Int, in bytes: [UInt8]) -> Int {
    bytes[..<place].withUnsafeBytes { place - HiddenCharacters.incompleteEnd(of: $0) }
  }
}
