/// The places at which two long texts differ, by lines, each as a window.
struct TextPlaces {
  /// The first of them, in order; those that are near each other are one.
  let windows: [TextWindow]
  /// The line of the later text at which each begins, from 1.
  let lines: [Int]
  /// How many bytes are before the first of them, the same in both texts.
  let start: Int
  /// How many places more there are.
  let left: Int

  /// So many lines that are the same between two places part them.
  private static let gap = 3
  /// Texts that differ in more lines than this have one place.
  private static let mostLines = 2_000
  private static let mostPlaces = 50

  /// Nil for equal texts. Shows about `cut` bytes of each in all.
  ///
  /// O(length), and of the lines between what is the same at the beginning and at the end, by how
  /// many differ.
  init?(_ before: String, _ after: String, cut: Int) {
    let (old, new) = (TextPlaces.lines(of: before), TextPlaces.lines(of: after))
    var head = 0
    while head < min(old.count, new.count), old[head] == new[head] { head += 1 }
    var tail = 0
    while tail < min(old.count, new.count) - head,
      old[old.count - 1 - tail] == new[new.count - 1 - tail]
    {
      tail += 1
    }
    if head == old.count, head == new.count { return nil }
    let (oldMiddle, newMiddle) = (head..<old.count - tail, head..<new.count - tail)
    var places = [(old: oldMiddle, new: newMiddle)]
    if oldMiddle.count + newMiddle.count <= TextPlaces.mostLines {
      places = TextPlaces.places(in: old[oldMiddle], new[newMiddle])
    }
    var (windows, lines): ([TextWindow], [Int]) = ([], [])
    var rest = cut
    for place in places.prefix(TextPlaces.mostPlaces) where rest > 0 {
      let texts = (TextPlaces.text(old[place.old]), TextPlaces.text(new[place.new]))
      guard let window = TextWindow(texts.0, texts.1, cut: rest) else { continue }
      rest -= max(window.before.utf8.count, window.after.utf8.count)
      windows.append(window)
      lines.append(place.new.lowerBound + 1)
    }
    (self.windows, self.lines) = (windows, lines)
    start = old[..<(places.first?.old.lowerBound ?? 0)].reduce(0) { $0 + $1.count }
    left = places.count - windows.count
  }

  /// The runs of lines that differ.
  private static func places(
    in old: ArraySlice<ArraySlice<UInt8>>, _ new: ArraySlice<ArraySlice<UInt8>>
  ) -> [(old: Range<Int>, new: Range<Int>)] {
    var (removed, inserted): (Set<Int>, Set<Int>) = ([], [])
    for change in new.difference(from: old) {
      switch change {
      case .remove(let offset, _, _): removed.insert(old.startIndex + offset)
      case .insert(let offset, _, _): inserted.insert(new.startIndex + offset)
      }
    }
    var places: [(old: Range<Int>, new: Range<Int>)] = []
    var (i, j) = (old.startIndex, new.startIndex)
    while i < old.endIndex || j < new.endIndex {
      let (first, second) = (i, j)
      while removed.contains(i) { i += 1 }
      while inserted.contains(j) { j += 1 }
      if i == first, j == second {
        (i, j) = (i + 1, j + 1)
        continue
      }
      if let last = places.last, first - last.old.upperBound < gap {
        places[places.count - 1] = (last.old.lowerBound..<i, last.new.lowerBound..<j)
      } else {
        places.append((first..<i, second..<j))
      }
    }
    return places
  }

  /// The lines with their ends.
  private static func lines(of text: String) -> [ArraySlice<UInt8>] {
    let bytes = Array(text.utf8)
    var lines: [ArraySlice<UInt8>] = []
    var start = 0
    while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
      lines.append(bytes[start...end])
      start = end + 1
    }
    if start < bytes.count { lines.append(bytes[start...]) }
    return lines
  }

  private static func text(_ lines: ArraySlice<ArraySlice<UInt8>>) -> String {
    String(decoding: lines.joined(), as: UTF8.self)
  }
}
