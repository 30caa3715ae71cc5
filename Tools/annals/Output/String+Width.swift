extension String {
  /// The number of a terminal's cells that the text takes.
  var cells: Int {
    if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
    return reduce(0) { $0 + $1.cells }
  }

  /// The text, padded with spaces on the left to a width in cells.
  func padded(left width: Int) -> String {
    String(repeating: " ", count: max(0, width - cells)) + self
  }

  /// The text, padded with spaces on the right to a width in cells.
  func padded(right width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - cells))
  }

  /// The text, or as much of it as fits into so many cells together with `…`.
  func cut(to width: Int) -> String {
    // No character takes more cells than bytes.
    guard utf8.count > width else { return self }
    var used = 0
    var end = startIndex
    for index in indices {
      used += self[index].cells
      if used < width { end = self.index(after: index) }
      if used > width { return self[..<end] + "…" }
    }
    return self
  }

  /// The text, or so many characters of it and `…`.
  func shortened(to limit: Int) -> String {
    guard utf8.count > limit, count > limit else { return self }
    return prefix(limit) + "…"
  }
}

extension Character {
  /// The number of a terminal's cells that the character takes: two if it is wide, or shown as an
  /// emoji, otherwise one; none for combining marks alone.
  fileprivate var cells: Int {
    guard let first = unicodeScalars.first else { return 0 }
    if first.isASCII, unicodeScalars.count == 1 { return 1 }
    let isEmoji = unicodeScalars.contains {
      // The selector of the picture form.
      $0 == "\u{FE0F}" || $0.properties.isEmojiPresentation
    }
    if isEmoji { return 2 }
    return unicodeScalars.reduce(0) { max($0, $1.cells) }
  }
}

extension Unicode.Scalar {
  fileprivate var cells: Int {
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .spacingMark, .format, .control: 0
    default: WideCharacters.contains(self) ? 2 : 1
    }
  }
}
