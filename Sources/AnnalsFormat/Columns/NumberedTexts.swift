import AnnalsModel

/// A run of texts as patterns and numbers: `4711@anna`, `img-000123.png`. Exact to the byte.
///
/// FORMAT.md, "Byte string runs".
struct NumberedTexts {
  /// What texts have in common: the bytes before and after a number, where they are in the arena,
  /// and how many digits the number has at least, filled up with zeros; 0 if there is no number.
  private struct Pattern {
    var prefix: Range<Int>
    var suffix: Range<Int>
    var digits: Int

    /// Whether a text of another pattern, whose number may begin with a zero, is of this one, too.
    func fits(_ other: Pattern, hasZeros: Bool, in arena: UnsafeRawBufferPointer) -> Bool {
      (digits == other.digits || digits == 1 && other.digits > 1 && !hasZeros)
        && NumberedTexts.areSame(prefix, other.prefix, arena)
        && NumberedTexts.areSame(suffix, other.suffix, arena)
    }
  }

  /// Which digits of a text are its number.
  private enum Choice: CaseIterable {
    case first, last
  }

  private var patterns: ContiguousArray<Pattern> = []
  /// The pattern of each text.
  private var indexes: ContiguousArray<Int64> = []
  /// The number of each text whose pattern has one.
  private var numbers: ContiguousArray<Int64> = []

  /// Fewer texts are not worth it.
  private static let fewest = 16
  /// So many texts at the beginning show whether patterns come again.
  private static let trial = 64
  /// Longer texts are documents.
  private static let longest = 255
  /// A number has at most so many digits, and is less than `bound`.
  static let mostDigits = 18
  static let bound: Int64 = 1_000_000_000_000_000_000

  /// Nil if the texts have more patterns than a quarter of their count, or a quarter of them has no
  /// number.
  init?(_ cells: UnsafeBufferPointer<ValueCell>, in arena: UnsafeRawBufferPointer) {
    guard cells.count >= NumberedTexts.fewest else { return nil }
    let trial = UnsafeBufferPointer(rebasing: cells.prefix(NumberedTexts.trial))
    var best: (choice: Choice, patterns: Int)?
    for choice in Choice.allCases {
      guard let tried = NumberedTexts(trial, in: arena, choice) else { continue }
      if let best, best.patterns <= tried.patterns.count { continue }
      best = (choice, tried.patterns.count)
    }
    guard let best else { return nil }
    self.init(cells, in: arena, best.choice)
  }

  private init?(
    _ cells: UnsafeBufferPointer<ValueCell>, in arena: UnsafeRawBufferPointer, _ choice: Choice
  ) {
    indexes.reserveCapacity(cells.count)
    numbers.reserveCapacity(cells.count)
    var table = PatternTable()
    var last = 0
    for cell in cells {
      let range = cell.arenaRange
      guard range.count <= NumberedTexts.longest else { return nil }
      let text = UnsafeRawBufferPointer(rebasing: arena[range])
      let digits = NumberedTexts.digits(of: text, choice) ?? text.count..<text.count
      var pattern = Pattern(
        prefix: range.lowerBound..<range.lowerBound + digits.lowerBound,
        suffix: range.lowerBound + digits.upperBound..<range.upperBound, digits: digits.count)
      let hasZeros = digits.count > 1 && text[digits.lowerBound] == UInt8(ascii: "0")
      // Mostly it is that of the text before.
      if patterns.isEmpty || !patterns[last].fits(pattern, hasZeros: hasZeros, in: arena) {
        let hash = NumberedTexts.hash(pattern, in: arena)
        var place = table.place(of: pattern, hash, among: patterns, in: arena)
        if place == nil, digits.count > 1, !hasZeros {
          // As many digits as it has, or as few as it needs.
          pattern.digits = 1
          place = table.place(of: pattern, hash, among: patterns, in: arena)
        }
        if place == nil {
          guard (patterns.count + 1) * 4 <= cells.count, table.add(hash) else { return nil }
          patterns.append(pattern)
        }
        last = place ?? patterns.count - 1
      }
      indexes.append(Int64(last))
      if digits.isEmpty { continue }
      var number: Int64 = 0
      for place in digits { number = number &* 10 &+ Int64(text[place] &- UInt8(ascii: "0")) }
      numbers.append(number)
    }
    guard numbers.count >= cells.count / 4 * 3 else { return nil }
  }

  /// Where a text has its number; nil if it has none.
  private static func digits(of text: UnsafeRawBufferPointer, _ choice: Choice) -> Range<Int>? {
    let isDigit = { (byte: UInt8) in byte &- UInt8(ascii: "0") < 10 }
    switch choice {
    case .first:
      var start = 0
      while start < text.count, !isDigit(text[start]) { start += 1 }
      if start == text.count { return nil }
      var end = start + 1
      while end < text.count, end - start < mostDigits, isDigit(text[end]) { end += 1 }
      return start..<end
    case .last:
      var end = text.count
      while end > 0, !isDigit(text[end - 1]) { end -= 1 }
      if end == 0 { return nil }
      var start = end - 1
      while start > 0, end - start < mostDigits, isDigit(text[start - 1]) { start -= 1 }
      return start..<end
    }
  }

  private static func hash(_ pattern: Pattern, in arena: UnsafeRawBufferPointer) -> UInt64 {
    mix(DistinctValues.hash(arena[pattern.prefix])) ^ DistinctValues.hash(arena[pattern.suffix])
  }

  /// Finds patterns by what they consist of.
  private struct PatternTable {
    private var slots = ContiguousArray<Int32>(repeating: -1, count: 64)
    private var hashes: ContiguousArray<UInt64> = []

    /// The place of an equal pattern; nil if there is none.
    func place(
      of pattern: Pattern, _ hash: UInt64, among patterns: ContiguousArray<Pattern>,
      in arena: UnsafeRawBufferPointer
    ) -> Int? {
      var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
      while slots[slot] >= 0 {
        let place = Int(slots[slot])
        let other = patterns[place]
        if hashes[place] == hash, other.digits == pattern.digits,
          other.fits(pattern, hasZeros: true, in: arena)
        {
          return place
        }
        slot = (slot + 1) & (slots.count - 1)
      }
      return nil
    }

    /// Adds the next pattern. Returns false if too many collide: what is made to do so costs no
    /// more than texts without patterns.
    mutating func add(_ hash: UInt64) -> Bool {
      hashes.append(hash)
      if hashes.count * 2 > slots.count {
        slots = ContiguousArray(repeating: -1, count: slots.count * 4)
        for place in hashes.indices.dropLast() where !enter(place) { return false }
      }
      return enter(hashes.count - 1)
    }

    private mutating func enter(_ place: Int) -> Bool {
      var slot = Int(truncatingIfNeeded: hashes[place]) & (slots.count - 1)
      var probes = 0
      while slots[slot] >= 0 {
        slot = (slot + 1) & (slots.count - 1)
        probes += 1
        if probes > 64 { return false }
      }
      slots[slot] = Int32(place)
      return true
    }
  }

  private static func areSame(
    _ a: Range<Int>, _ b: Range<Int>, _ arena: UnsafeRawBufferPointer
  ) -> Bool {
    a.count == b.count
      && SharedPrefix.length(
        UnsafeRawBufferPointer(rebasing: arena[a]), UnsafeRawBufferPointer(rebasing: arena[b]))
        == a.count
  }
}

// MARK: Bytes

extension NumberedTexts {
  /// Appends the run, its layout included.
  func encode(
    in arena: UnsafeRawBufferPointer, integers: UnsafeMutableBufferPointer<Int64>,
    into bytes: inout ContiguousArray<UInt8>,
    _ pay: (_ shared: Int, _ total: Int, _ count: Int) -> Bool
  ) {
    bytes.append(ValuesLayout.numbered.rawValue)
    bytes.append(count: patterns.count)
    for part in [\Pattern.prefix, \Pattern.suffix] {
      let cells = ContiguousArray(
        patterns.map { pattern in
          let range = pattern[keyPath: part]
          return ValueCell(
            tag: .data, bits: UInt64(range.lowerBound), length: UInt32(range.count))
        })
      cells.withUnsafeBufferPointer {
        BytesColumn.encodePlainly(
          $0, in: arena, integers: UnsafeMutableBufferPointer(rebasing: integers[..<$0.count]),
          into: &bytes, pay)
      }
    }
    let digits = ContiguousArray(patterns.map { Int64($0.digits) })
    for run in [digits, indexes, numbers] {
      run.withUnsafeBufferPointer { IntegerColumn.encode($0, into: &bytes) }
    }
  }
}
