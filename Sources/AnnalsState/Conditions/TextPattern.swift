import AnnalsModel

/// A text match, prepared for texts as UTF-8 bytes.
struct TextPattern: Sendable {
  private enum Form: Sendable {
    case equals, begins, ends
    case contains(failures: ContiguousArray<Int>)
    case like(LikePattern)
  }

  let folding: TextFolding
  private let form: Form
  private let bytes: ContiguousArray<UInt8>

  init(_ test: Condition.TextTest, removingDiacritics: @escaping @Sendable (String) -> String) {
    folding = TextFolding(options: test.options, removingDiacritics: removingDiacritics)
    bytes = folding.folded(test.text)
    switch test.match {
    case .equals: form = .equals
    case .begins: form = .begins
    case .ends: form = .ends
    case .contains: form = .contains(failures: TextPattern.failures(of: bytes))
    case .like: form = .like(LikePattern(test.text, folding))
    }
  }

  /// Whether the text matches; `scratch` is memory for its folded form. O(length of the text); for
  /// `like` times a 64th of the pattern's length.
  func matches(
    _ text: UnsafeRawBufferPointer, _ scratch: inout ContiguousArray<UInt8>
  ) -> Bool {
    guard !folding.isIdentity else { return matchesFolded(text) }
    folding.fold(text, into: &scratch)
    return scratch.withUnsafeBytes { matchesFolded($0) }
  }

  private func matchesFolded(_ text: UnsafeRawBufferPointer) -> Bool {
    if case .like(let pattern) = form { return pattern.matches(text) }
    return bytes.withUnsafeBytes { bytes in
      guard text.count >= bytes.count else { return false }
      switch form {
      case .equals: return text.count == bytes.count && text.hasSameBytes(as: bytes)
      case .begins:
        return UnsafeRawBufferPointer(rebasing: text[..<bytes.count]).hasSameBytes(as: bytes)
      case .ends:
        return UnsafeRawBufferPointer(rebasing: text[(text.count - bytes.count)...])
          .hasSameBytes(as: bytes)
      case .contains(let failures): return TextPattern.contains(bytes, failures, in: text)
      case .like: return false
      }
    }
  }

  /// For each length of a beginning, the length of the longest shorter beginning that ends it
  /// (Knuth, Morris and Pratt).
  private static func failures(of bytes: ContiguousArray<UInt8>) -> ContiguousArray<Int> {
    var failures = ContiguousArray(repeating: 0, count: bytes.count + 1)
    var length = 0
    for index in 1..<max(1, bytes.count) {
      while length > 0, bytes[index] != bytes[length] { length = failures[length] }
      if bytes[index] == bytes[length] { length += 1 }
      failures[index + 1] = length
    }
    return failures
  }

  private static func contains(
    _ bytes: UnsafeRawBufferPointer, _ failures: ContiguousArray<Int>,
    in text: UnsafeRawBufferPointer
  ) -> Bool {
    if bytes.isEmpty { return true }
    let first = bytes[0]
    var length = 0
    for byte in text {
      if length == 0 {
        guard byte == first else { continue }
      } else {
        while length > 0, byte != bytes[length] { length = failures[length] }
      }
      if byte == bytes[length] { length += 1 }
      if length == bytes.count { return true }
    }
    return false
  }
}

/// A pattern with `*` and `?`, matched by bits that record how much of it the text so far matches.
/// There is no backtracking, so no text and no pattern takes long.
struct LikePattern: Sendable {
  /// Words that hold a bit for each count of items matched, 0 to all.
  private let words: Int
  private let itemCount: Int
  /// The counts at which a `*` stands, which any character leaves as they are.
  private var stars: ContiguousArray<UInt64>
  /// The items that are `?`.
  private var anything: ContiguousArray<UInt64>
  /// The items that each character of the pattern matches, those that are `?` among them.
  private var scalars: ContiguousArray<UInt32> = []
  private var masks: ContiguousArray<UInt64> = []

  init(_ pattern: String, _ folding: TextFolding) {
    var items: [UInt32?] = []
    var starred: [Int] = []
    var literal = String.UnicodeScalarView()
    var isEscaped = false
    func endLiteral() {
      let bytes = folding.folded(String(literal))
      for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
        items.append(scalar.value)
      }
      literal = String.UnicodeScalarView()
    }
    for scalar in pattern.unicodeScalars {
      if isEscaped || !["\\", "*", "?"].contains(scalar) {
        literal.append(scalar)
        isEscaped = false
      } else if scalar == "\\" {
        isEscaped = true
      } else {
        endLiteral()
        if scalar == "*" { starred.append(items.count) } else { items.append(nil) }
      }
    }
    if isEscaped { literal.append("\\") }
    endLiteral()
    itemCount = items.count
    let words = items.count / 64 + 1
    self.words = words
    stars = ContiguousArray(repeating: 0, count: words)
    anything = stars
    for count in starred { stars[count / 64] |= 1 << UInt64(count % 64) }
    for index in items.indices where items[index] == nil {
      anything[index / 64] |= 1 << UInt64(index % 64)
    }
    scalars = ContiguousArray(Set(items.compactMap(\.self)).sorted())
    var places: [UInt32: Int] = [:]
    for (place, scalar) in scalars.enumerated() {
      places[scalar] = place
      masks.append(contentsOf: anything)
    }
    for (index, item) in items.enumerated() {
      guard let item, let place = places[item] else { continue }
      masks[place * words + index / 64] |= 1 << UInt64(index % 64)
    }
  }

  /// Whether the whole text matches. O(scalars of the text × (pattern / 64 + log of the pattern)).
  func matches(_ text: UnsafeRawBufferPointer) -> Bool {
    withUnsafeTemporaryAllocation(of: UInt64.self, capacity: words) { state in
      state.initialize(repeating: 0)
      state[0] = 1
      var reader = ScalarReader(bytes: text)
      while let scalar = reader.next() {
        guard advance(state, over: scalar) else { return false }
      }
      return state[itemCount / 64] & 1 << UInt64(itemCount % 64) != 0
    }
  }

  /// Advances by one character; returns false if nothing can match any more.
  private func advance(_ state: UnsafeMutableBufferPointer<UInt64>, over scalar: UInt32) -> Bool {
    let place = place(of: scalar)
    var carry: UInt64 = 0
    var left: UInt64 = 0
    for word in 0..<words {
      let mask = place.map { masks[$0 * words + word] } ?? anything[word]
      let passed = state[word] & mask
      let next = passed << 1 | carry | (state[word] & stars[word])
      carry = passed >> 63
      state[word] = next
      left |= next
    }
    return left != 0
  }

  private func place(of scalar: UInt32) -> Int? {
    let place = scalars.rank { $0 < scalar }
    return place < scalars.count && scalars[place] == scalar ? place : nil
  }
}

/// The scalars of UTF-8 bytes; what is not UTF-8 reads as one U+FFFD a byte.
struct ScalarReader {
  let bytes: UnsafeRawBufferPointer
  var position = 0

  init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  mutating func next() -> UInt32? {
    guard position < bytes.count else { return nil }
    let first = bytes[position]
    position += 1
    if first < 0x80 { return UInt32(first) }
    let count = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1
    guard first >= 0xC2, first < 0xF5, position + count <= bytes.count else { return 0xFFFD }
    var value = UInt32(first) & (0x3F >> UInt32(count))
    for index in position..<position + count {
      guard bytes[index] & 0xC0 == 0x80 else { return 0xFFFD }
      value = value << 6 | UInt32(bytes[index] & 0x3F)
    }
    position += count
    return value
  }
}
