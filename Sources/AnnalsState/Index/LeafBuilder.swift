import AnnalsFormat

/// Makes nodes of leaves, or branches of nodes: groups of children with the fences between them.
struct GroupBuilder<Child> {
  var children: ContiguousArray<Child> = []
  var fences = Fences()

  mutating func append(_ child: Child, fence: some Collection<UInt8>) {
    children.append(child)
    fences.append(fence)
  }

  /// Calls `body` with groups of at most `maximum` children, made of about `target` if there must
  /// be several; the fence before a group's first child is handed out, and empty in the group.
  func forEachGroup(
    maximum: Int, target: Int,
    _ body: (ContiguousArray<Child>, Fences, ArraySlice<UInt8>) -> Void
  ) {
    guard !children.isEmpty else { return }
    let groups = children.count <= maximum ? 1 : (children.count + target - 1) / target
    for group in 0..<groups {
      let range = children.count * group / groups..<children.count * (group + 1) / groups
      var inner = Fences()
      for index in range {
        inner.append(index == range.lowerBound ? ArraySlice() : fences[index])
      }
      body(ContiguousArray(children[range]), inner, fences[range.lowerBound])
    }
  }
}

extension GroupBuilder<IndexLeaf> {
  /// Adds entries, in as many leaves as they need. `fence` stands before the first.
  mutating func append(_ entries: IndexEntries, fence: some Collection<UInt8> = []) {
    guard entries.count > 0 else { return }
    if entries.count <= IndexLeaf.maximumCount {
      append(IndexLeaf(entries), fence: fence)
      return
    }
    let leafCount = (entries.count + IndexLeaf.targetCount - 1) / IndexLeaf.targetCount
    entries.bytes.withUnsafeBytes { all in
      for leaf in 0..<leafCount {
        let range = entries.count * leaf / leafCount..<entries.count * (leaf + 1) / leafCount
        var part = IndexEntries()
        part.append(range, of: entries)
        if leaf == 0 {
          append(IndexLeaf(part), fence: fence)
        } else {
          let first = UnsafeRawBufferPointer(rebasing: all[entries.range(range.lowerBound)])
          let before = UnsafeRawBufferPointer(rebasing: all[entries.range(range.lowerBound - 1)])
          let length = sharedLength(first, before) + 1
          append(IndexLeaf(part), fence: first.prefix(length))
        }
      }
    }
  }
}
