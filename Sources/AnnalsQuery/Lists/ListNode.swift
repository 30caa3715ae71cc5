import AnnalsModel

/// A node of a sorted list: entries, or further nodes.
///
/// A value. Nodes that nobody else holds are changed in place; of others only what changes is
/// copied.
enum ListNode: Sendable {
  case leaf(ContiguousArray<ListEntry>)
  /// All children are of one kind.
  case inner(ContiguousArray<Child>)

  /// What a node knows of a child without visiting it.
  struct Child: Sendable {
    var node: ListNode
    /// How many entries are below it and the children before it.
    var end: Int
    /// How many of them begin a section.
    var sectionEnd: Int
    /// The least entry below it.
    var first: ListEntry
  }

  /// How many entries a leaf holds at most, and how many children an inner node: the copy of a
  /// shared node touches the reference count of each child.
  static let leafLimit = 256
  static let innerLimit = 32

  static var empty: ListNode { .leaf([]) }

  /// An inner node of children that count themselves alone.
  static func parent(of children: some Sequence<Child>) -> ListNode {
    var numbered: ContiguousArray<Child> = []
    var (end, sectionEnd) = (0, 0)
    for var child in children {
      end += child.end
      sectionEnd += child.sectionEnd
      (child.end, child.sectionEnd) = (end, sectionEnd)
      numbered.append(child)
    }
    return .inner(numbered)
  }

  /// The number of entries in a leaf, or of children.
  private var width: Int {
    switch self {
    case .leaf(let entries): entries.count
    case .inner(let children): children.count
    }
  }

  private var limit: Int {
    switch self {
    case .leaf: ListNode.leafLimit
    case .inner: ListNode.innerLimit
    }
  }

  var isEmpty: Bool { width == 0 }

  var isTooFull: Bool { width > limit }

  var isTooEmpty: Bool { width < limit / 4 }

  /// The least entry; nil if there is none. O(1).
  var first: ListEntry? {
    switch self {
    case .leaf(let entries): entries.first
    case .inner(let children): children.first?.first
    }
  }
}

// Dividing and merging.
extension ListNode {
  /// The node as a child that counts itself alone. It is not empty. O(entries of a leaf).
  private var alone: Child {
    switch self {
    case .leaf(let entries):
      var sections = 0
      for entry in entries where entry.beginsSection { sections += 1 }
      return Child(node: self, end: entries.count, sectionEnd: sections, first: entries[0])
    case .inner(let children):
      let last = children[children.count - 1]
      return Child(
        node: self, end: last.end, sectionEnd: last.sectionEnd, first: children[0].first)
    }
  }

  /// The node in equal parts that are not too full, each as a child that counts itself alone.
  var parts: [Child] {
    guard isTooFull else { return isEmpty ? [] : [alone] }
    switch self {
    case .leaf(let entries):
      return ListNode.divided(entries, by: ListNode.leafLimit)
        .map { ListNode.leaf(ContiguousArray($0)).alone }
    case .inner(let children):
      return ListNode.divided(ListNode.alone(children), by: ListNode.innerLimit)
        .map { ListNode.parent(of: $0).alone }
    }
  }

  /// The elements in equal parts of at most this length.
  static func divided<C: RandomAccessCollection>(
    _ elements: C, by length: Int
  ) -> [C.SubSequence] {
    let parts = (elements.count + length - 1) / length
    return (0..<parts).map { part in
      let start = elements.index(elements.startIndex, offsetBy: elements.count * part / parts)
      let end = elements.index(elements.startIndex, offsetBy: elements.count * (part + 1) / parts)
      return elements[start..<end]
    }
  }

  /// Children that each count themselves alone.
  private static func alone(_ children: ContiguousArray<Child>) -> ContiguousArray<Child> {
    var result: ContiguousArray<Child> = []
    result.reserveCapacity(children.count)
    var (end, sectionEnd) = (0, 0)
    for var child in children {
      (child.end, end) = (child.end - end, child.end)
      (child.sectionEnd, sectionEnd) = (child.sectionEnd - sectionEnd, child.sectionEnd)
      result.append(child)
    }
    return result
  }

  /// The children without empty ones, those that are too full divided, and those that are too empty
  /// merged with a neighbour.
  static func balanced(_ children: ContiguousArray<Child>) -> ListNode {
    var result: ContiguousArray<Child> = []
    for child in alone(children) where !child.node.isEmpty {
      if let last = result.last, last.node.isTooEmpty || child.node.isTooEmpty {
        result.removeLast()
        result += joined(last.node, child.node).parts
      } else if child.node.isTooFull {
        result += child.node.parts
      } else {
        result.append(child)
      }
    }
    return parent(of: result)
  }

  /// The content of two neighbours.
  private static func joined(_ a: ListNode, _ b: ListNode) -> ListNode {
    switch (a, b) {
    case (.leaf(let first), .leaf(let second)): .leaf(first + second)
    case (.inner(let first), .inner(let second)): parent(of: alone(first) + alone(second))
    case (.leaf, .inner), (.inner, .leaf): preconditionFailure("children of two kinds")
    }
  }
}
