import AnnalsModel
import AnnalsState

/// A finger into a sorted list: looks entries up one after the other, and starts where the last one
/// was. O(log distance) for entries that rise in the order of the list, otherwise O(log n).
package struct ListFinger {
  private let root: ListNode
  /// The leaves of the inner node that the last entry was found in; none at first.
  private var leaves: ContiguousArray<ListNode.Child> = []
  /// How many entries come before these leaves.
  private var start = 0
  /// The first entry behind these leaves; nil if there is none.
  private var end: ListEntry?
  /// The leaf that the last entry was found in.
  private var place = 0

  init(_ root: ListNode) { self.root = root }

  /// The rank of an entry: how many entries precede it. The entry need not be in the list. Also the
  /// entry at that rank, if it is in the same leaf.
  @inline(__always)
  package mutating func find(
    _ entry: ListEntry, by order: some ListOrder
  ) throws(StateFault) -> (rank: Int, entry: ListEntry?) {
    if try !isBehindLast(entry, order) { try descend(to: entry, by: order) }
    guard !leaves.isEmpty else { return (0, nil) }
    while place + 1 < leaves.count, try order.precedes(leaves[place + 1].first, entry) {
      place += 1
    }
    guard case .leaf(let entries) = leaves[place].node else { return (0, nil) }
    let next = place + 1 < leaves.count ? leaves[place + 1].first.word : end?.word
    let guess = ListFinger.guess(entry.word, leaves[place].first.word, next, entries.count)
    let rank = try entries.rank(of: entry, by: order, around: guess)
    let before = start + (place > 0 ? leaves[place - 1].end : 0)
    return (before + rank, rank < entries.count ? entries[rank] : nil)
  }

  /// Whether an entry is in the leaf of the last one, or behind it in the same inner node.
  @inline(__always)
  private func isBehindLast(
    _ entry: ListEntry, _ order: some ListOrder
  ) throws(StateFault) -> Bool {
    guard !leaves.isEmpty, try order.precedes(leaves[place].first, entry) else { return false }
    guard let end else { return true }
    return try !order.precedes(end, entry)
  }

  /// Moves to the last leaf whose first entry is before this one.
  @inline(never)
  private mutating func descend(
    to entry: ListEntry, by order: some ListOrder
  ) throws(StateFault) {
    var node = root
    start = 0
    end = nil
    while case .inner(let children) = node {
      let place = try (1..<children.count).rank { (place) throws(StateFault) in
        try order.precedes(children[place].first, entry)
      }
      if case .leaf = children[place].node {
        leaves = children
        self.place = place
        return
      }
      if place > 0 { start += children[place - 1].end }
      if place + 1 < children.count { end = children[place + 1].first }
      node = children[place].node
    }
    // The root is a leaf.
    if case .leaf(let entries) = node, let first = entries.first {
      leaves = [ListNode.Child(node: node, end: entries.count, sectionEnd: 0, first: first)]
    }
    place = 0
  }

  /// Where a word is in a leaf if words rise or fall evenly there. Entries are far apart in memory
  /// that nobody has read for a while, so a good guess saves most of a search.
  @inline(__always)
  private static func guess(_ word: UInt64, _ low: UInt64, _ high: UInt64?, _ count: Int) -> Int {
    guard let high, low != high else { return count / 2 }
    let rises = low < high
    let whole = rises ? high - low : low - high
    let part = rises ? max(word, low) - low : low - min(word, low)
    return Int(Double(min(part, whole)) / Double(whole) * Double(count))
  }
}
