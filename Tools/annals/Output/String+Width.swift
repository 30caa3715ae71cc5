extension String {
  /// The text, padded with spaces on the left to a width.
  func padded(left width: Int) -> String {
    String(repeating: " ", count: max(0, width - count)) + self
  }

  /// The text, padded with spaces on the right to a width.
  func padded(right width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }

  /// The text, or as much of it as fits into a width together with `…`.
  func cut(to width: Int) -> String {
    // Counting characters is slow, so few bytes are a short cut.
    guard utf8.count > width, count > width else { return self }
    return prefix(max(width - 1, 0)) + "…"
  }

  /// The text, or so many characters of it and `…`.
  func shortened(to limit: Int) -> String {
    guard utf8.count > limit, count > limit else { return self }
    return prefix(limit) + "…"
  }
}
