import AnnalsModel
import AnnalsState
import Foundation

/// One sort key, bound to the tables of a state. A class, so that using it retains one object.
final class OrderKey: Sendable {
  let path: BoundPath
  let key: SortKey
  private let words: KeyWord
  /// The locale whose rules compare texts; nil if none does.
  private let locale: Locale?
  /// The values that come first; nil for none.
  private let listed: ListedValues?

  init(
    _ key: SortKey, of entity: EntityNumber, in state: State
  ) throws(StateFault) {
    path = try BoundPath(key.path, from: entity, in: state)
    self.key = key
    if case .attribute(let attribute) = path.end {
      words = KeyWord(
        areNumbersWhole: attribute.type.tag == .int,
        areNumbersDecimals: attribute.type == .decimal)
    } else {
      words = KeyWord(areNumbersWhole: true)
    }
    if case .localized(let name) = key.textOrder.base {
      locale = name.map(Locale.init(identifier:)) ?? .current
    } else {
      locale = nil
    }
    listed = key.order.isEmpty ? nil : try OrderKey.listed(key, path, of: entity, in: state)
  }

  /// The values that a key lists, in words of the same key without them.
  private static func listed(
    _ key: SortKey, _ path: BoundPath, of entity: EntityNumber, in state: State
  ) throws(StateFault) -> ListedValues {
    for value in key.order where !value.isNull { try path.requireComparable(value, key.path) }
    var plain = key
    (plain.order, plain.isDescending) = ([], false)
    let order = try OrderKey(plain, of: entity, in: state)
    return try ListedValues(key.order) { (cell, arena) throws(StateFault) in
      try order.word(cell, arena, 0) { _ in nil }
    }
  }

  /// How far into texts words go.
  private static let deepest = 8

  /// The word of no value.
  var wordOfNil: UInt64 { listed?.placeOfNil ?? (key.areNilsFirst ? 0 : .max) }

  /// Whether rows with this word at a depth have equal values.
  @inline(__always)
  func isExact(_ word: UInt64) -> Bool {
    if word == wordOfNil || ListedValues.isPlace(word) { return true }
    return KeyWord.isExact(key.isDescending ? ~word : word)
  }

  /// Whether words at a greater depth distinguish rows that have this word.
  func isDeepened(_ word: UInt64, at depth: Int) -> Bool {
    switch (key.isDescending ? ~word : word) >> 60 {
    case 2: depth == 0
    case 4: locale == nil && depth < OrderKey.deepest
    case 3, 7, 8, 9: depth < OrderKey.deepest
    default: false
    }
  }

  /// The word of a row: smaller ones come first. At depth n the word of a text begins after 7 n
  /// bytes.
  @inline(__always)
  func word(
    _ row: Int64, _ view: RowView, depth: Int = 0, _ bytes: LargeBytes
  ) throws(StateFault) -> UInt64 {
    var word: UInt64 = 0
    try path.read(row, view) { (cell, arena) throws(StateFault) in
      word = try self.word(cell, arena, depth, bytes)
    }
    return word
  }

  private func word(
    _ cell: ValueCell, _ arena: UnsafeRawBufferPointer, _ depth: Int, _ bytes: LargeBytes
  ) throws(StateFault) -> UInt64 {
    if cell.isNull { return wordOfNil }
    var word: UInt64 = 0
    if cell.isLarge || cell.tag == .string && key.textOrder != .binary {
      guard let whole = try prepared(cell, arena, bytes) else { return wordOfNil }
      if locale != nil, cell.tag == .string {
        // Only the locale's rules distinguish texts.
        word = UInt64(ValueTag.string.rawValue) << 60 | 8
      } else {
        word = whole.withUnsafeBytes { KeyWord.text($0, cell.tag, at: 7 * depth) }
      }
    } else if depth > 0, cell.tag.rank == ValueTag.int.rank, !words.areNumbersDecimals {
      word = words.rest(cell, in: arena)
    } else if depth > 0, cell.tag == .decimal {
      word = KeyWord.text(cell.bytes(in: arena), KeyWord.decimalKind, at: 7 * depth)
    } else if depth > 0 {
      word = KeyWord.text(cell.bytes(in: arena), cell.tag, at: 7 * depth)
    } else {
      word = words.word(cell, in: arena)
    }
    // Deeper words are those of values that are not listed.
    if depth == 0, let listed {
      let place = try listed.place(word) { (other, otherArena) throws(StateFault) in
        try unlistedOutcome(cell, arena, other, otherArena, bytes, bytes) == .equal
      }
      if let place { return place }
    }
    return key.isDescending ? ~word : word
  }

  /// The bytes of a text in compared form; nil if they are lost.
  private func prepared(
    _ cell: ValueCell, _ arena: UnsafeRawBufferPointer, _ bytes: LargeBytes
  ) throws(StateFault) -> ContiguousArray<UInt8>? {
    var whole: ContiguousArray<UInt8>
    if cell.isLarge {
      guard case .large(let value) = cell.value(in: arena) else { return nil }
      do {
        guard let read = try bytes(value) else { return nil }
        whole = read
      } catch {
        throw .interrupted(error)
      }
    } else {
      whole = ContiguousArray(cell.bytes(in: arena))
    }
    guard cell.tag == .string, key.textOrder.base == .caseInsensitive else { return whole }
    for index in whole.indices {
      guard whole[index] < 0x80 else {
        return ContiguousArray(String(decoding: whole, as: UTF8.self).lowercased().utf8)
      }
      if whole[index] &- 0x41 < 26 { whole[index] |= 0x20 }
    }
    return whole
  }

  /// Compares two values in the order of this key; each may be a large value of another state.
  func outcome(
    _ a: ValueCell, _ arenaA: UnsafeRawBufferPointer, _ b: ValueCell,
    _ arenaB: UnsafeRawBufferPointer, _ bytesA: LargeBytes, _ bytesB: LargeBytes
  ) throws(StateFault) -> Outcome {
    if listed != nil {
      let (x, y) = (try word(a, arenaA, 0, bytesA), try word(b, arenaB, 0, bytesB))
      if x != y { return .of(x, y) }
      if isExact(x) { return .equal }
    }
    return try unlistedOutcome(a, arenaA, b, arenaB, bytesA, bytesB)
  }

  /// Compares two values as if none were listed.
  private func unlistedOutcome(
    _ a: ValueCell, _ arenaA: UnsafeRawBufferPointer, _ b: ValueCell,
    _ arenaB: UnsafeRawBufferPointer, _ bytesA: LargeBytes, _ bytesB: LargeBytes
  ) throws(StateFault) -> Outcome {
    if a.isNull || b.isNull {
      if a.isNull && b.isNull { return .equal }
      return a.isNull == key.areNilsFirst ? .less : .greater
    }
    let outcome: Outcome
    if a.tag.rank == b.tag.rank,
      a.isLarge || b.isLarge || a.tag == .string && key.textOrder != .binary
    {
      let (x, y) = (try prepared(a, arenaA, bytesA), try prepared(b, arenaB, bytesB))
      guard let x, let y else {
        // A lost value counts as missing.
        if x == nil && y == nil { return .equal }
        return (x == nil) == key.areNilsFirst ? .less : .greater
      }
      if let locale, a.tag == .string {
        outcome = OrderKey.localized(x, y, locale)
      } else {
        outcome = x.withUnsafeBytes { x in y.withUnsafeBytes { .of(x, $0) } }
      }
    } else {
      outcome = ValueCell.outcome(a, arenaA, b, arenaB)
    }
    guard key.isDescending, outcome != .equal else { return outcome }
    return outcome == .less ? .greater : .less
  }

  private static func localized(
    _ a: ContiguousArray<UInt8>, _ b: ContiguousArray<UInt8>, _ locale: Locale
  ) -> Outcome {
    let (a, b) = (String(decoding: a, as: UTF8.self), String(decoding: b, as: UTF8.self))
    switch a.compare(b, locale: locale) {
    case .orderedAscending: return .less
    case .orderedSame: return .equal
    case .orderedDescending: return .greater
    }
  }
}
