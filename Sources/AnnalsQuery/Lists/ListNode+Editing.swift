import AnnalsModel

/// Inserts an entry before a position of a sorted list, or removes the one that is there.
package struct EntryEdit: Sendable {
  /// The position before all edits that are made at once.
  package var position: Int
  /// The new entry; nil to remove one.
  package var entry: ListEntry?

  package init(_ position: Int, _ entry: ListEntry?) {
    self.position = position
    self.entry = entry
  }
}

extension ListNode {
  /// How many more entries there are, and beginnings of sections.
  struct Growth {
    var count = 0
    var sections = 0

    mutating func add(_ entry: ListEntry) {
      count += 1
      if entry.beginsSection { sections += 1 }
    }

    mutating func subtract(_ entry: ListEntry) {
      count -= 1
      if entry.beginsSection { sections -= 1 }
    }
  }

  /// Makes those edits in `range`, of which the node has all positions; it begins at `start`. May
  /// become empty, or too full.
  mutating func apply(
    _ edits: ContiguousArray<EntryEdit>, _ range: Range<Int>, from start: Int
  ) -> Growth {
    switch self {
    case .leaf(var entries):
      self = .empty
      let growth = ListNode.edit(&entries, edits[range], start)
      self = .leaf(entries)
      return growth
    case .inner(var children):
      self = .empty
      var isUneven = false
      let growth = children.withUnsafeMutableBufferPointer { children in
        ListNode.edit(children, edits, range, start, &isUneven)
      }
      self = isUneven ? ListNode.balanced(children) : .inner(children)
      return growth
    }
  }

  /// Makes edits of a leaf in place. Entries between two edits move by what those before add; few
  /// move, since most edits take an entry out and put one in.
  private static func edit(
    _ entries: inout ContiguousArray<ListEntry>, _ edits: ContiguousArray<EntryEdit>.SubSequence,
    _ start: Int
  ) -> Growth {
    var growth = Growth()
    for edit in edits {
      if let entry = edit.entry {
        growth.add(entry)
      } else {
        growth.subtract(entries[edit.position - start])
      }
    }
    let count = entries.count
    for _ in 0..<max(0, growth.count) { entries.append(ListEntry(word: 0, row: 0)) }
    entries.withUnsafeMutableBufferPointer { move($0, count, edits, start) }
    if growth.count < 0 { entries.removeLast(-growth.count) }
    return growth
  }

  /// Moves entries, of which there are `count`, to where the edits leave them, and puts new ones
  /// between.
  private static func move(
    _ entries: UnsafeMutableBufferPointer<ListEntry>, _ count: Int,
    _ edits: ContiguousArray<EntryEdit>.SubSequence, _ start: Int
  ) {
    func move(_ range: Range<Int>, by distance: Int) {
      guard !range.isEmpty, let base = entries.baseAddress else { return }
      (base + range.lowerBound + distance).update(
        from: base + range.lowerBound, count: range.count)
    }
    // To the left from the first on, then to the right from the last on: nothing is overwritten.
    var (distance, first) = (0, 0)
    for edit in edits {
      let place = edit.position - start
      if distance < 0 { move(first..<place, by: distance) }
      first = edit.entry == nil ? place + 1 : place
      distance += edit.entry == nil ? -1 : 1
    }
    if distance < 0 { move(first..<count, by: distance) }
    var end = count
    for edit in edits.reversed() {
      let place = edit.position - start
      if distance > 0 { move((edit.entry == nil ? place + 1 : place)..<end, by: distance) }
      end = place
      distance -= edit.entry == nil ? -1 : 1
    }
    for edit in edits {
      if let entry = edit.entry { entries[edit.position - start + distance] = entry }
      distance += edit.entry == nil ? -1 : 1
    }
  }

  /// Makes edits in those children that have the positions.
  private static func edit(
    _ children: UnsafeMutableBufferPointer<Child>, _ edits: ContiguousArray<EntryEdit>,
    _ range: Range<Int>, _ start: Int, _ isUneven: inout Bool
  ) -> Growth {
    var growth = Growth()
    var next = range.lowerBound
    var begin = start
    for place in children.indices {
      let end = start + children[place].end
      var stop = next
      // An entry between two children goes to the end of the first.
      while stop < range.upperBound,
        edits[stop].position < end || edits[stop].position == end && edits[stop].entry != nil
      {
        stop += 1
      }
      if stop > next {
        let more = children[place].node.apply(edits, next..<stop, from: begin)
        growth.count += more.count
        growth.sections += more.sections
        if let first = children[place].node.first { children[place].first = first }
        let node = children[place].node
        isUneven = isUneven || node.isTooFull || node.isTooEmpty
      }
      children[place].end += growth.count
      children[place].sectionEnd += growth.sections
      begin = end
      next = stop
    }
    return growth
  }

  /// Says whether a section begins at a position. Returns how many more begin.
  mutating func setBeginsSection(_ begins: Bool, at position: Int) -> Int {
    switch self {
    case .leaf(var entries):
      guard entries[position].beginsSection != begins else { return 0 }
      self = .empty
      entries[position].beginsSection = begins
      self = .leaf(entries)
      return begins ? 1 : -1
    case .inner(var children):
      self = .empty
      let place = ListNode.place(of: position, in: children)
      let start = place > 0 ? children[place - 1].end : 0
      let more = children[place].node.setBeginsSection(begins, at: position - start)
      if more != 0 { for later in place..<children.count { children[later].sectionEnd += more } }
      self = .inner(children)
      return more
    }
  }

  /// The child that contains a position.
  @inline(__always)
  static func place(of position: Int, in children: ContiguousArray<Child>) -> Int {
    children.indices.rank { children[$0].end <= position }
  }
}
