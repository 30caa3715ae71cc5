import AnnalsFormat
import AnnalsModel

/// The range of one column's values in a search of a box index.
package struct BoxSide: Sendable {
  /// An end, and whether it is itself between them.
  package typealias End = (value: Value, isIncluded: Bool)

  /// The words of the values; nil if the range is empty.
  let words: ClosedRange<UInt64>?

  /// Every value that a box index can have.
  package static let all = BoxSide(words: 0...UInt64.max)

  private init(words: ClosedRange<UInt64>?) { self.words = words }

  /// The values between these ends; all to a side without an end. Nil if an end is neither number
  /// nor date.
  package init?(from low: End?, to high: End?) {
    var (first, last) = (UInt64.min, UInt64.max)
    var isEmpty = false
    if let low {
      guard let word = BoxSide.word(low.value, isUpper: !low.isIncluded) else { return nil }
      isEmpty = !low.isIncluded && word == .max
      first = low.isIncluded ? word : word &+ 1
    }
    if let high {
      guard let word = BoxSide.word(high.value, isUpper: high.isIncluded) else { return nil }
      isEmpty = isEmpty || !high.isIncluded && word == 0
      last = high.isIncluded ? word : word &- 1
    }
    words = isEmpty || first > last ? nil : first...last
  }

  /// The word of a value; for a zero, that of 0.0 if `isUpper`, else that of -0.0, which is equal.
  private static func word(_ value: Value, isUpper: Bool) -> UInt64? {
    switch value {
    case .int(let number): UInt64(bitPattern: number) ^ 1 << 63
    case .day(let day): UInt64(bitPattern: day.daysSince1970) ^ 1 << 63
    case .date(let date): UInt64(bitPattern: date.microseconds) ^ 1 << 63
    case .double(let number):
      ValueCell(
        tag: .double, bits: (number == 0 ? (isUpper ? 0.0 : -0.0) : number).bitPattern
      ).orderedBits
    default: nil
    }
  }
}

/// The search of a box index: the nodes and leaves that may have entries in a box. Nodes entirely
/// in the box are kept separately; the entries of other leaves are tested, without reading values.
package struct BoxSearch: Sendable {
  private let box: MortonBox
  /// The nodes that are entirely in the box.
  private var nodes: ContiguousArray<IndexSlot> = []
  private var leaves: ContiguousArray<(leaf: IndexLeaf, isInside: Bool)> = []
  /// How many entries these have: an upper bound of the objects in the box.
  package private(set) var most = 0

  /// Descends to the leaves. Reads the chunks along the sides of the box, but none within it.
  init(_ sides: [BoxSide], in tree: IndexTree) throws(StateFault) {
    let ranges = sides.compactMap(\.words)
    box = MortonBox(ranges.isEmpty ? [0...0, 0...0] : ranges)
    guard ranges.count == sides.count else { return }
    var bounds = CodeBounds(length: box.codeLength)
    for (number, branch) in tree.branches.enumerated() {
      let end = number + 1 < tree.branches.count ? tree.fences[number + 1] : nil
      bounds.set(from: tree.fences[number], before: end)
      switch bounds.relation(to: box) {
      case .outside: continue
      case .inside: for slot in branch.slots { add(slot) }
      case .across: try search(branch, from: tree.fences[number], before: end, &bounds)
      }
    }
  }

  private mutating func search(
    _ branch: IndexBranch, from start: ArraySlice<UInt8>, before end: ArraySlice<UInt8>?,
    _ bounds: inout CodeBounds
  ) throws(StateFault) {
    for (place, slot) in branch.slots.enumerated() {
      bounds.set(
        from: place == 0 ? start : branch.fences[place],
        before: place + 1 < branch.slots.count ? branch.fences[place + 1] : end)
      switch bounds.relation(to: box) {
      case .outside: continue
      case .inside: add(slot)
      case .across:
        for leaf in try slot.node().leaves {
          let relation = try leaf.relation(to: box)
          if relation == .outside { continue }
          leaves.append((leaf, relation == .inside))
          most += leaf.entries.count
        }
      }
    }
  }

  private mutating func add(_ slot: IndexSlot) {
    nodes.append(slot)
    most += slot.count
  }

  /// The rows in the box, in no order.
  package func rows() throws(StateFault) -> [Int64] {
    var rows: [Int64] = []
    rows.reserveCapacity(most)
    for slot in nodes {
      for leaf in try slot.node().leaves { rows.append(contentsOf: leaf.entries.rows) }
    }
    for (leaf, isInside) in leaves {
      if isInside {
        rows.append(contentsOf: leaf.entries.rows)
      } else {
        try leaf.forEachEntry(in: box) { rows.append(leaf.entries.rows[$0]) }
      }
    }
    return rows
  }

  /// How many rows are in the box. Reads nothing more.
  package func count() throws(StateFault) -> Int {
    var result = nodes.reduce(0) { $0 + $1.count }
    for (leaf, isInside) in leaves {
      if isInside {
        result += leaf.entries.count
      } else {
        try leaf.forEachEntry(in: box) { _ in result += 1 }
      }
    }
    return result
  }
}

extension IndexView {
  /// What a box index has within these sides, one for each of its columns in order. O(log n) and
  /// what lies along the sides.
  package func search(_ sides: [BoxSide]) throws(StateFault) -> BoxSearch {
    try BoxSearch(sides, in: index.tree)
  }
}

/// The first and the last code that may be between two fences.
private struct CodeBounds {
  private var first: ContiguousArray<UInt8>
  private var last: ContiguousArray<UInt8>

  init(length: Int) {
    first = ContiguousArray(repeating: 0, count: length)
    last = first
  }

  mutating func set(from lower: ArraySlice<UInt8>, before upper: ArraySlice<UInt8>?) {
    for index in first.indices { first[index] = 0 }
    for (index, byte) in zip(first.indices, lower) { first[index] = byte }
    guard let upper, !upper.isEmpty else {
      for index in last.indices { last[index] = 255 }
      return
    }
    for index in last.indices { last[index] = 0 }
    for (index, byte) in zip(last.indices, upper) { last[index] = byte }
    // Of a fence with a row behind the code, entries with that code may stand before it.
    guard upper.count <= last.count else { return }
    for index in last.indices.reversed() {
      last[index] &-= 1
      if last[index] != 255 { break }
    }
  }

  func relation(to box: MortonBox) -> MortonBox.Relation {
    first.withUnsafeBytes { first in
      last.withUnsafeBytes { box.relation(from: first, to: $0) }
    }
  }
}

extension IndexLeaf {
  fileprivate func relation(to box: MortonBox) throws(StateFault) -> MortonBox.Relation {
    let (first, last) = (entries.range(0), entries.range(entries.count - 1))
    guard hasCode(first, of: box), hasCode(last, of: box) else { throw IndexLeaf.misfit }
    return entries.bytes.withUnsafeBytes { bytes in
      box.relation(
        from: UnsafeRawBufferPointer(rebasing: bytes[first]),
        to: UnsafeRawBufferPointer(rebasing: bytes[last]))
    }
  }

  /// Gives out the entries in the box.
  @inline(__always)
  fileprivate func forEachEntry(
    in box: MortonBox, _ body: (Int) -> Void
  ) throws(StateFault) {
    let isWhole = entries.bytes.withUnsafeBytes { bytes in
      for index in 0..<entries.count {
        let range = entries.range(index)
        guard hasCode(range, of: box) else { return false }
        if box.contains(UnsafeRawBufferPointer(rebasing: bytes[range])) { body(index) }
      }
      return true
    }
    if !isWhole { throw IndexLeaf.misfit }
  }

  /// Whether an entry is as long as one of the box's index: a file may hold anything.
  @inline(__always)
  private func hasCode(_ range: Range<Int>, of box: MortonBox) -> Bool {
    range.count == box.codeLength + IndexEntries.rowLength
  }

  private static let misfit = StateFault.invalid(
    entity: 0, row: 0, reason: "a box index has a key of another length")
}
