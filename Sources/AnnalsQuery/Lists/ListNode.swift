/// A node of a sorted list: a leaf of entries, or an inner node of others.
///
/// Read from any thread; written only by the one holder of its only reference.
final class ListNode: @unchecked Sendable {
  /// What a node knows of a child without visiting it.
  struct Child {
    var node: ListNode
    /// How many entries are below.
    var count: Int
    /// How many of them begin a section.
    var sections: Int
    /// The least of them.
    var first: ListEntry
  }

  /// How many entries a leaf holds at most, and how many children an inner node: the copy of a
  /// shared node touches the reference count of each child.
  static let leafLimit = 256
  static let innerLimit = 32

  // Exclusive access follows from the rule above.
  /// The entries of a leaf.
  @exclusivity(unchecked) var entries: ContiguousArray<ListEntry>
  /// The children of an inner node; none in a leaf.
  @exclusivity(unchecked) var children: ContiguousArray<Child>

  init(entries: ContiguousArray<ListEntry>) {
    self.entries = entries
    children = []
  }

  init(children: ContiguousArray<Child>) {
    entries = []
    self.children = children
  }

  init(copying other: ListNode) {
    entries = other.entries
    children = other.children
  }

  var isLeaf: Bool { children.isEmpty }

  /// The node as its parent knows it. It is not empty.
  var asChild: Child {
    if isLeaf {
      var sections = 0
      for entry in entries where entry.beginsSection { sections += 1 }
      return Child(node: self, count: entries.count, sections: sections, first: entries[0])
    }
    var child = Child(node: self, count: 0, sections: 0, first: children[0].first)
    for part in children {
      child.count += part.count
      child.sections += part.sections
    }
    return child
  }

  /// Copies the node unless this is its only reference.
  @inline(__always)
  static func own(_ node: inout ListNode) {
    if !isKnownUniquelyReferenced(&node) { node = ListNode(copying: node) }
  }

  /// Splits an overfull node; returns the second half.
  func split() -> ListNode {
    if isLeaf {
      let half = entries.count / 2
      let rest = ListNode(entries: ContiguousArray(entries[half...]))
      entries.removeSubrange(half...)
      return rest
    }
    let half = children.count / 2
    let rest = ListNode(children: ContiguousArray(children[half...]))
    children.removeSubrange(half...)
    return rest
  }

  var isTooFull: Bool {
    isLeaf ? entries.count > ListNode.leafLimit : children.count > ListNode.innerLimit
  }

  var isTooEmpty: Bool {
    isLeaf ? entries.count < ListNode.leafLimit / 4 : children.count < ListNode.innerLimit / 4
  }
}
