import AnnalsModel
import AnnalsState

/// An ordered list of rows with positions and sections: a B+ tree with counts.
///
/// A value: copies do not change, and share unchanged nodes. The first entry of a section is
/// marked, so that the same counts give the section of a position and the position of a section.
/// Everything costs O(log n) unless stated.
package struct SortedList: Sendable {
  private var root: ListNode?
  /// How many entries there are. O(1).
  package private(set) var count = 0
  /// How many sections there are. O(1).
  package private(set) var sectionCount = 0

  /// A list without entries.
  package init() {}

  /// A list of entries that are in order, marked where sections begin. O(n).
  package init(_ sorted: some RandomAccessCollection<ListEntry>) {
    guard !sorted.isEmpty else { return }
    // Three quarters full: there is room for some more.
    var level = SortedList.divided(sorted, by: ListNode.leafLimit * 3 / 4)
      .map { ListNode(entries: ContiguousArray($0)).asChild }
    while level.count > 1 {
      level = SortedList.divided(level, by: ListNode.innerLimit * 3 / 4)
        .map { ListNode(children: ContiguousArray($0)).asChild }
    }
    root = level[0].node
    count = level[0].count
    sectionCount = level[0].sections
  }

  /// The elements in equal parts of at most this length.
  private static func divided<C: RandomAccessCollection>(
    _ elements: C, by length: Int
  ) -> [C.SubSequence] {
    let parts = (elements.count + length - 1) / length
    return (0..<parts).map { part in
      let start = elements.index(elements.startIndex, offsetBy: elements.count * part / parts)
      let end = elements.index(elements.startIndex, offsetBy: elements.count * (part + 1) / parts)
      return elements[start..<end]
    }
  }
}

// Reading.
extension SortedList {
  /// The entry at a position. Traps if there is none.
  package subscript(position: Int) -> ListEntry {
    precondition(position >= 0 && position < count, "no row at position \(position)")
    guard var node = root else { preconditionFailure("an empty list") }
    var rest = position
    while !node.isLeaf {
      let place = SortedList.place(of: &rest, in: node)
      node = node.children[place].node
    }
    return node.entries[rest]
  }

  /// The child that contains a position; `rest` becomes the position within it.
  @inline(__always)
  private static func place(of rest: inout Int, in node: ListNode) -> Int {
    var place = 0
    while rest >= node.children[place].count, place < node.children.count - 1 {
      rest -= node.children[place].count
      place += 1
    }
    return place
  }

  /// Calls `body` with the entries at these positions, in order. O(log n) and the entries.
  package func forEach<E: Error>(
    in range: Range<Int>, _ body: (ListEntry) throws(E) -> Void
  ) throws(E) {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "no such rows")
    guard let root, !range.isEmpty else { return }
    try SortedList.forEach(in: range, root, body)
  }

  private static func forEach<E: Error>(
    in range: Range<Int>, _ node: ListNode, _ body: (ListEntry) throws(E) -> Void
  ) throws(E) {
    if node.isLeaf {
      for index in range { try body(node.entries[index]) }
      return
    }
    var start = 0
    for child in node.children {
      let part = range.clamped(to: start..<start + child.count)
      if !part.isEmpty {
        try forEach(in: part.lowerBound - start..<part.upperBound - start, child.node, body)
      }
      start += child.count
      if start >= range.upperBound { return }
    }
  }

  /// The entries at these positions. O(log n) and the entries.
  package func entries(in range: Range<Int>) -> ContiguousArray<ListEntry> {
    var result: ContiguousArray<ListEntry> = []
    result.reserveCapacity(range.count)
    forEach(in: range) { result.append($0) }
    return result
  }

  /// The rank of an entry: how many entries precede it. The entry need not be in the list.
  package func rank(
    of entry: ListEntry, by order: some ListOrder
  ) throws(ConditionFault) -> Int {
    try rank { (other) throws(ConditionFault) in try order.precedes(other, entry) }
  }

  /// The number of entries before the first for which `isBefore` is false; it is false for all
  /// later ones.
  package func rank(
    _ isBefore: (ListEntry) throws(ConditionFault) -> Bool
  ) throws(ConditionFault) -> Int {
    try find(isBefore).rank
  }

  /// As `rank`, with the entry at that position if it is in the same leaf.
  private func find(
    _ isBefore: (ListEntry) throws(ConditionFault) -> Bool
  ) throws(ConditionFault) -> (rank: Int, entry: ListEntry?) {
    guard var node = root else { return (0, nil) }
    var rank = 0
    while !node.isLeaf {
      // The last child whose first entry is before it.
      let children = node.children
      let last = try (1..<children.count).rank { (place) throws(ConditionFault) in
        try isBefore(children[place].first)
      }
      for place in 0..<last { rank += children[place].count }
      node = children[last].node
    }
    let place = try node.entries.rank(isBefore)
    return (rank + place, place < node.entries.count ? node.entries[place] : nil)
  }

  /// The position of an entry; nil if it is not in the list.
  package func position(
    of entry: ListEntry, by order: some ListOrder
  ) throws(ConditionFault) -> Int? {
    let found = try find { (other) throws(ConditionFault) in try order.precedes(other, entry) }
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
    guard var node = root else { return 0 }
    var rest = position
    var section = -1
    while !node.isLeaf {
      let place = SortedList.place(of: &rest, in: node)
      for before in 0..<place { section += node.children[before].sections }
      node = node.children[place].node
    }
    for entry in node.entries[...rest] where entry.beginsSection { section += 1 }
    return max(section, 0)
  }

  /// The position at which a section begins; behind the last one, that behind the last row.
  package func start(ofSection section: Int) -> Int {
    precondition(section >= 0 && section <= sectionCount, "no section \(section)")
    guard var node = root, section < sectionCount else { return count }
    var rest = section
    var position = 0
    while !node.isLeaf {
      var place = 0
      while rest >= node.children[place].sections {
        rest -= node.children[place].sections
        position += node.children[place].count
        place += 1
      }
      node = node.children[place].node
    }
    for (index, entry) in node.entries.enumerated() where entry.beginsSection {
      if rest == 0 { return position + index }
      rest -= 1
    }
    return position
  }

  /// The positions of a section's rows.
  package func range(ofSection section: Int) -> Range<Int> {
    start(ofSection: section)..<start(ofSection: section + 1)
  }
}

// Changing.
extension SortedList {
  /// Inserts an entry at a position, where the order wants it.
  package mutating func insert(_ entry: ListEntry, at position: Int) {
    precondition(position >= 0 && position <= count, "no position \(position)")
    count += 1
    if entry.beginsSection { sectionCount += 1 }
    guard var node = root.take() else {
      root = ListNode(entries: [entry])
      return
    }
    if let rest = SortedList.insert(entry, at: position, into: &node) {
      root = ListNode(children: [node.asChild, rest.asChild])
    } else {
      root = node
    }
  }

  /// Returns a node to stand behind this one, if it had to be split.
  private static func insert(
    _ entry: ListEntry, at position: Int, into node: inout ListNode
  ) -> ListNode? {
    ListNode.own(&node)
    if node.isLeaf {
      node.entries.insert(entry, at: position)
    } else {
      var place = 0
      var rest = position
      // An entry between two children goes to the end of the first.
      while rest > node.children[place].count, place < node.children.count - 1 {
        rest -= node.children[place].count
        place += 1
      }
      let split = insert(entry, at: rest, into: &node.children[place].node)
      if let split {
        node.children[place] = node.children[place].node.asChild
        node.children.insert(split.asChild, at: place + 1)
      } else {
        node.children[place].count += 1
        if entry.beginsSection { node.children[place].sections += 1 }
        if rest == 0 { node.children[place].first = entry }
      }
    }
    return node.isTooFull ? node.split() : nil
  }

  /// Removes the entry at a position.
  package mutating func remove(at position: Int) {
    precondition(position >= 0 && position < count, "no row at position \(position)")
    guard var node = root.take() else { return }
    let removed = SortedList.remove(at: position, from: &node)
    count -= 1
    if removed.beginsSection { sectionCount -= 1 }
    while node.children.count == 1 { node = node.children[0].node }
    root = count == 0 ? nil : node
  }

  private static func remove(at position: Int, from node: inout ListNode) -> ListEntry {
    ListNode.own(&node)
    if node.isLeaf { return node.entries.remove(at: position) }
    var rest = position
    let place = place(of: &rest, in: node)
    let removed = remove(at: rest, from: &node.children[place].node)
    node.children[place].count -= 1
    if removed.beginsSection { node.children[place].sections -= 1 }
    if node.children[place].count == 0 {
      node.children.remove(at: place)
      return removed
    }
    if rest == 0 { node.children[place].first = node.children[place].node.least }
    if node.children[place].node.isTooEmpty, node.children.count > 1 {
      mend(&node, at: place > 0 ? place - 1 : 0)
    }
    return removed
  }

  /// Merges two neighbouring children, or divides their content equally.
  private static func mend(_ node: inout ListNode, at place: Int) {
    let (a, b) = (node.children[place].node, node.children[place + 1].node)
    let joined =
      a.isLeaf
      ? ListNode(entries: a.entries + b.entries) : ListNode(children: a.children + b.children)
    let rest = joined.isTooFull ? joined.split() : nil
    node.children[place] = joined.asChild
    if let rest {
      node.children[place + 1] = rest.asChild
    } else {
      node.children.remove(at: place + 1)
    }
  }

  /// Says whether a section begins at a position.
  package mutating func setBeginsSection(_ begins: Bool, at position: Int) {
    guard self[position].beginsSection != begins, var node = root.take() else { return }
    SortedList.mark(begins, at: position, in: &node)
    sectionCount += begins ? 1 : -1
    root = node
  }

  private static func mark(_ begins: Bool, at position: Int, in node: inout ListNode) {
    ListNode.own(&node)
    if node.isLeaf {
      node.entries[position].beginsSection = begins
      return
    }
    var rest = position
    let place = place(of: &rest, in: node)
    mark(begins, at: rest, in: &node.children[place].node)
    node.children[place].sections += begins ? 1 : -1
  }
}

extension ListNode {
  /// The least entry below. O(depth).
  fileprivate var least: ListEntry { isLeaf ? entries[0] : children[0].first }
}
