/// Intervals by first and last moment, to find those that meet a window.
///
/// A binary tree over the first moments that is also a heap over the last ones (McCreight's
/// priority search tree): a node holds, of the intervals under it, the one that lasts longest; the
/// rest is halved by first moment. It lies in one array, a node before its left and its right half,
/// so that sizes alone say where everything is.
struct PrioritySearchTree: Sendable {
  private struct Node: Sendable {
    var first: Int64
    var last: Int64
    /// The least first moment of the right half.
    var split: Int64
    var value: Int32
  }

  private var nodes: ContiguousArray<Node> = []

  /// The tree of intervals that rise by their first moment; a value is its place. O(n log n).
  init(firsts: ContiguousArray<Int64>, lasts: ContiguousArray<Int64>) {
    nodes.reserveCapacity(firsts.count)
    var places = ContiguousArray((0..<Int32(firsts.count)))
    build(&places, 0, firsts.count, firsts, lasts)
  }

  /// Appends the tree of the intervals at `places[start..<end]`, which rise.
  private mutating func build(
    _ places: inout ContiguousArray<Int32>, _ start: Int, _ end: Int,
    _ firsts: ContiguousArray<Int64>, _ lasts: ContiguousArray<Int64>
  ) {
    guard start < end else { return }
    var longest = start
    for place in start..<end where lasts[Int(places[place])] > lasts[Int(places[longest])] {
      longest = place
    }
    let value = places[longest]
    // The rest moves up over it, in order.
    var place = longest
    while place > start {
      places[place] = places[place - 1]
      place -= 1
    }
    let middle = start + 1 + (end - start - 1) / 2
    nodes.append(
      Node(
        first: firsts[Int(value)], last: lasts[Int(value)],
        split: middle < end ? firsts[Int(places[middle])] : .max, value: value))
    build(&places, start + 1, middle, firsts, lasts)
    build(&places, middle, end, firsts, lasts)
  }

  /// Calls `body` with each interval that begins at or before `high` and lasts until `low` or
  /// longer, in no order. O(log n + answer).
  func forEach(from low: Int64, through high: Int64, _ body: (Int32) -> Void) {
    visit(0, nodes.count, low, high, body)
  }

  private func visit(
    _ root: Int, _ size: Int, _ low: Int64, _ high: Int64, _ body: (Int32) -> Void
  ) {
    guard size > 0, nodes[root].last >= low else { return }
    if nodes[root].first <= high { body(nodes[root].value) }
    let left = (size - 1) / 2
    visit(root + 1, left, low, high, body)
    if nodes[root].split <= high { visit(root + 1 + left, size - 1 - left, low, high, body) }
  }
}
