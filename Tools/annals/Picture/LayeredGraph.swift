/// A directed graph laid out in columns from left to right, so that few edges cross and no nodes
/// overlap.
///
/// Edges lead to columns further right; those that close a cycle are laid out the other way round.
/// An edge over several columns bends around the nodes between.
struct LayeredGraph {
  /// A node, or a bend of an edge.
  struct Node {
    let height: Double
    var column = 0
    /// The vertical centre.
    var y = 0.0
    /// Whether it is a bend.
    var isBend = false
  }

  /// An edge from one node to another, by their places in `nodes`.
  struct Edge {
    let from: Int
    let to: Int
    /// Whether the edge is laid out from its end to its start.
    var isReversed = false
    /// The places of its bends, from left to right.
    var bends: [Int] = []
  }

  private(set) var nodes: [Node]
  private(set) var edges: [Edge]
  /// The places of the nodes of each column, from the top down.
  private(set) var columns: [[Int]] = []
  /// The neighbours of each node in the columns to its left and right.
  private var left: [[Int]] = []
  private var right: [[Int]] = []

  private static let gap = 26.0
  private static let bendHeight = 12.0
  private static let sweeps = 16

  /// Lays out nodes of these heights. Edges from a node to itself have no part in it. Fast for
  /// hundreds of edges.
  init(heights: [Double], edges: [(from: Int, to: Int)]) {
    nodes = heights.map { Node(height: $0) }
    self.edges = edges.map { Edge(from: $0.from, to: $0.to) }
    breakCycles()
    assignColumns()
    addBends()
    order()
    place()
  }

  /// The number of crossings of edges between neighbouring columns.
  var crossingCount: Int {
    columns.indices.dropLast().reduce(0) { $0 + crossings(after: $1, columns) }
  }

  // MARK: Columns

  /// The ends of an edge as it is laid out.
  private func ends(_ edge: Edge) -> (left: Int, right: Int) {
    edge.isReversed ? (edge.to, edge.from) : (edge.from, edge.to)
  }

  /// Reverses the edges that lead back to where a walk came from.
  private mutating func breakCycles() {
    var outgoing = [[Int]](repeating: [], count: nodes.count)
    for (index, edge) in edges.enumerated() where edge.from != edge.to {
      outgoing[edge.from].append(index)
    }
    enum Mark { case unseen, open, done }
    var marks = [Mark](repeating: .unseen, count: nodes.count)
    for start in nodes.indices where marks[start] == .unseen {
      var path = [(node: start, next: 0)]
      marks[start] = .open
      while let (node, next) = path.last {
        guard next < outgoing[node].count else {
          marks[node] = .done
          path.removeLast()
          continue
        }
        path[path.count - 1].next += 1
        let edge = outgoing[node][next]
        switch marks[edges[edge].to] {
        case .open: edges[edge].isReversed = true
        case .done: break
        case .unseen:
          marks[edges[edge].to] = .open
          path.append((edges[edge].to, 0))
        }
      }
    }
  }

  /// Puts each node right of all that lead to it, then those without any close to what they lead
  /// to.
  private mutating func assignColumns() {
    let pairs = edges.filter { $0.from != $0.to }.map(ends)
    var isChanged = true
    while isChanged {
      isChanged = false
      for (left, right) in pairs where nodes[right].column <= nodes[left].column {
        nodes[right].column = nodes[left].column + 1
        isChanged = true
      }
    }
    let targets = Set(pairs.map(\.right))
    for node in nodes.indices where !targets.contains(node) {
      let next = pairs.filter { $0.left == node }.map { nodes[$0.right].column }.min()
      if let next { nodes[node].column = next - 1 }
    }
  }

  private mutating func addBends() {
    var links: [(Int, Int)] = []
    for index in edges.indices where edges[index].from != edges[index].to {
      let (first, last) = ends(edges[index])
      var before = first
      for column in (nodes[first].column + 1)..<max(nodes[last].column, nodes[first].column + 1) {
        nodes.append(Node(height: LayeredGraph.bendHeight, column: column, isBend: true))
        edges[index].bends.append(nodes.count - 1)
        links.append((before, nodes.count - 1))
        before = nodes.count - 1
      }
      links.append((before, last))
    }
    left = [[Int]](repeating: [], count: nodes.count)
    right = left
    for (first, second) in links {
      right[first].append(second)
      left[second].append(first)
    }
    columns = [[Int]](repeating: [], count: (nodes.map(\.column).max() ?? -1) + 1)
    for node in nodes.indices { columns[nodes[node].column].append(node) }
  }

  // MARK: Order

  /// Sorts each column by where its neighbours are, from side to side, and swaps neighbours where
  /// that helps; keeps the best order found.
  private mutating func order() {
    var best = (columns, crossingCount)
    for sweep in 0..<LayeredGraph.sweeps where best.1 > 0 {
      let isRightward = sweep.isMultiple(of: 2)
      for column in isRightward ? Array(columns.indices) : columns.indices.reversed() {
        sort(column, by: isRightward ? left : right)
      }
      swapNeighbours()
      let count = crossingCount
      if count < best.1 { best = (columns, count) }
    }
    columns = best.0
  }

  private mutating func sort(_ column: Int, by neighbours: [[Int]]) {
    let places = self.places
    func mean(_ node: Int) -> Double {
      let near = neighbours[node]
      if near.isEmpty { return Double(places[node]) }
      return near.reduce(0) { $0 + Double(places[$1]) } / Double(near.count)
    }
    columns[column] = columns[column].map { ($0, mean($0)) }
      .sorted { $0.1 != $1.1 ? $0.1 < $1.1 : places[$0.0] < places[$1.0] }.map(\.0)
  }

  private mutating func swapNeighbours() {
    for column in columns.indices where columns[column].count > 1 {
      for place in 0..<columns[column].count - 1 {
        let before = crossings(beside: column, columns)
        var swapped = columns
        swapped[column].swapAt(place, place + 1)
        if crossings(beside: column, swapped) < before { columns = swapped }
      }
    }
  }

  /// The place of each node in its column.
  private var places: [Int] {
    var places = [Int](repeating: 0, count: nodes.count)
    for column in columns {
      for (place, node) in column.enumerated() { places[node] = place }
    }
    return places
  }

  private func crossings(beside column: Int, _ columns: [[Int]]) -> Int {
    (column > 0 ? crossings(after: column - 1, columns) : 0)
      + (column < columns.count - 1 ? crossings(after: column, columns) : 0)
  }

  /// The crossings between a column and the next: pairs of edges whose ends are in opposite orders.
  private func crossings(after column: Int, _ columns: [[Int]]) -> Int {
    var places: [Int: Int] = [:]
    for (place, node) in columns[column + 1].enumerated() { places[node] = place }
    var ends: [Int] = []
    for node in columns[column] {
      ends += right[node].compactMap { places[$0] }.sorted()
    }
    var count = 0
    for (index, end) in ends.enumerated() {
      for other in ends[..<index] where other > end { count += 1 }
    }
    return count
  }

  // MARK: Heights

  /// Puts each node as near as it can be to the middle of its neighbours.
  private mutating func place() {
    for column in columns { stack(column, toward: column.map { _ in 0 }) }
    for sweep in 0..<LayeredGraph.sweeps {
      let isRightward = sweep.isMultiple(of: 2)
      for column in isRightward ? columns : columns.reversed() {
        let wanted = column.map { node in
          let near = isRightward ? left[node] : right[node]
          if near.isEmpty { return nodes[node].y }
          return near.reduce(0) { $0 + nodes[$1].y } / Double(near.count)
        }
        stack(column, toward: wanted)
      }
    }
    let top = nodes.map { $0.y - $0.height / 2 }.min() ?? 0
    for node in nodes.indices { nodes[node].y -= top }
  }

  /// Puts the nodes of a column near to these heights, in order and apart: each run of nodes that
  /// touch lies so that they are off by nothing on average.
  private mutating func stack(_ column: [Int], toward wanted: [Double]) {
    var runs: [(first: Int, count: Int, y: Double)] = []
    var offsets: [Double] = []
    for (index, node) in column.enumerated() {
      let above = index > 0 ? column[index - 1] : node
      let step = index > 0 ? (nodes[above].height + nodes[node].height) / 2 + LayeredGraph.gap : 0
      offsets.append((offsets.last ?? 0) + step)
      runs.append((index, 1, wanted[index] - offsets[index]))
      while runs.count > 1, runs[runs.count - 2].y > runs[runs.count - 1].y {
        let last = runs.removeLast()
        let first = runs.removeLast()
        let count = first.count + last.count
        let y = (first.y * Double(first.count) + last.y * Double(last.count)) / Double(count)
        runs.append((first.first, count, y))
      }
    }
    for run in runs {
      for index in run.first..<run.first + run.count {
        nodes[column[index]].y = run.y + offsets[index]
      }
    }
  }
}
