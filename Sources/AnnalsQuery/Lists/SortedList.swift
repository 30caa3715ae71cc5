import AnnalsModel
import AnnalsState

/// An ordered list of rows with positions and sections: a B+ tree with counts.
///
/// A value: copies do not change, and share unchanged nodes. The first entry of a section is
/// marked, so that the same counts give the section of a position and the position of a section.
/// Everything costs O(log n) unless stated.
package struct SortedList: Sendable {
  private var root = ListNode.empty
  /// How many entries there are. O(1).
  package private(set) var count = 0
  /// How many sections there are. O(1).
  package private(set) var sectionCount = 0

  /// A list without entries.
  package init() {}

  /// A list of entries that are in order, marked where sections begin. O(n).
  package init(_ sorted: some RandomAccessCollection<ListEntry>) {
    // Three quarters full: there is room for some more.
    var level = ListNode.divided(sorted, by: ListNode.leafLimit * 3 / 4)
      .flatMap { ListNode.leaf(ContiguousArray($0)).parts }
    while level.count > 1 {
      level = ListNode.divided(level, by: ListNode.innerLimit * 3 / 4)
        .flatMap { ListNode.parent(of: $0).parts }
    }
    guard let whole = level.first else { return }
    (root, count, sectionCount) = (whole.node, whole.end, whole.sectionEnd)
  }
}

// Reading.
extension SortedList {
  /// The entry at a position. Traps if there is none.
  package subscript(position: Int) -> ListEntry {
    precondition(position >= 0 && position < count, "no row at position \(position)")
    var node = root
    var rest = position
    while true {
      switch node {
      case .leaf(let entries): return entries[rest]
      case .inner(let children):
        let place = ListNode.place(of: rest, in: children)
        if place > 0 { rest -= children[place - 1].end }
        node = children[place].node
      }
    }
  }

  /// Calls `body` with the entries at these positions, in order. O(log n) and the entries.
  package func forEach<E: Error>(
    in range: Range<Int>, _ body: (ListEntry) throws(E) -> Void
  ) throws(E) {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "no such rows")
    guard !range.isEmpty else { return }
    try SortedList.forEach(in: range, root, body)
  }

  private static func forEach<E: Error>(
    in range: Range<Int>, _ node: ListNode, _ body: (ListEntry) throws(E) -> Void
  ) throws(E) {
    switch node {
    case .leaf(let entries):
      for index in range { try body(entries[index]) }
    case .inner(let children):
      var place = ListNode.place(of: range.lowerBound, in: children)
      var start = place > 0 ? children[place - 1].end : 0
      while start < range.upperBound {
        let end = children[place].end
        let part = range.clamped(to: start..<end)
        try forEach(
          in: part.lowerBound - start..<part.upperBound - start, children[place].node, body)
        start = end
        place += 1
      }
    }
  }

  /// The entries at these positions. O(log n) and the entries.
  package func entries(in range: Range<Int>) -> ContiguousArray<ListEntry> {
    var result: ContiguousArray<ListEntry> = []
    result.reserveCapacity(range.count)
    forEach(in: range) { result.append($0) }
    return result
  }

  /// How many entries there are before the first for which `isBefore` is false; it is false for all
  /// later ones.
  package func rank<E: Error>(
    _ isBefore: (ListEntry) throws(E) -> Bool
  ) throws(E) -> Int {
    var node = root
    var rank = 0
    while true {
      switch node {
      case .leaf(let entries): return rank + (try entries.rank(isBefore))
      case .inner(let children):
        // The last child whose first entry is before it.
        let place = try (1..<children.count).rank { (place) throws(E) in
          try isBefore(children[place].first)
        }
        if place > 0 { rank += children[place - 1].end }
        node = children[place].node
      }
    }
  }

  /// The position of an entry; nil if it is not in the list.
  package func position(
    of entry: ListEntry, by order: some ListOrder
  ) throws(StateFault) -> Int? {
    var finger = finger
    return try position(of: entry, by: order, &finger)
  }

  /// A finger for looking up several entries, best in the order of the list.
  package var finger: ListFinger { ListFinger(root) }

  /// As `position(of:by:)`, from the entry that the finger found last.
  @inline(__always)
  func position(
    of entry: ListEntry, by order: some ListOrder, _ finger: inout ListFinger
  ) throws(StateFault) -> Int? {
    let found = try finger.find(entry, by: order)
    // Where all of a leaf is before it, it would be the first of the next.
    let there = found.entry ?? (found.rank < count ? self[found.rank] : nil)
    return there?.isSame(as: entry) == true ? found.rank : nil
  }
}

// Sections.
extension SortedList {
  /// The section that a position is in.
  package func section(at position: Int) -> Int {
    precondition(position >= 0 && position < count, "no row at position \(position)")
    var node = root
    var rest = position
    var section = -1
    while true {
      switch node {
      case .leaf(let entries):
        for entry in entries[...rest] where entry.beginsSection { section += 1 }
        return max(section, 0)
      case .inner(let children):
        let place = ListNode.place(of: rest, in: children)
        if place > 0 {
          rest -= children[place - 1].end
          section += children[place - 1].sectionEnd
        }
        node = children[place].node
      }
    }
  }

  /// The position at which a section begins; behind the last one, that behind the last row.
  package func start(ofSection section: Int) -> Int {
    precondition(section >= 0 && section <= sectionCount, "no section \(section)")
    guard section < sectionCount else { return count }
    var node = root
    var rest = section
    var position = 0
    while true {
      switch node {
      case .leaf(let entries):
        for (index, entry) in entries.enumerated() where entry.beginsSection {
          if rest == 0 { return position + index }
          rest -= 1
        }
        return position
      case .inner(let children):
        let place = children.indices.rank { children[$0].sectionEnd <= rest }
        if place > 0 {
          rest -= children[place - 1].sectionEnd
          position += children[place - 1].end
        }
        node = children[place].node
      }
    }
  }

  /// The positions of a section's rows.
  package func range(ofSection section: Int) -> Range<Int> {
    start(ofSection: section)..<start(ofSection: section + 1)
  }
}

// Changing.
extension SortedList {
  /// Makes edits in one pass: by rising position before all of them, and at one position inserts
  /// before a removal. Inserted entries must be where the order wants them. O(log n) for each, less
  /// for many.
  package mutating func apply(_ edits: ContiguousArray<EntryEdit>) {
    guard let first = edits.first, let last = edits.last else { return }
    precondition(
      first.position >= 0 && last.position < (last.entry == nil ? count : count + 1),
      "no position \(first.position) or \(last.position)")
    let growth = root.apply(edits, edits.indices, from: 0)
    count += growth.count
    sectionCount += growth.sections
    while root.isTooFull { root = .parent(of: root.parts) }
    while case .inner(let children) = root, children.count < 2 {
      root = children.first?.node ?? .empty
    }
  }

  /// Inserts an entry at a position, where the order wants it.
  package mutating func insert(_ entry: ListEntry, at position: Int) {
    apply([EntryEdit(position, entry)])
  }

  /// Removes the entry at a position.
  package mutating func remove(at position: Int) {
    apply([EntryEdit(position, nil)])
  }

  /// Says whether a section begins at a position.
  package mutating func setBeginsSection(_ begins: Bool, at position: Int) {
    guard self[position].beginsSection != begins else { return }
    sectionCount += root.setBeginsSection(begins, at: position)
  }
}
