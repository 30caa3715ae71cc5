/// The row groups of an entity: a tree of fan-out 8 and fixed depth, whose root is as wide as
/// needed.
///
/// Compared with a fan-out of 32, reading is no slower and writing cheaper, since writing costs
/// reference counts. A root entry spans 2^21 rows: an entity with a hundred million rows has 48.
struct GroupTree: Sendable {
  private typealias Lower = ContiguousArray<RowGroup?>
  private typealias Middle = ContiguousArray<Lower>
  private typealias Upper = ContiguousArray<Middle>

  private var root: ContiguousArray<Upper> = []

  /// One more than the greatest index that a group may have now.
  var indexLimit: Int { root.count << 9 }

  /// The group, if any of its rows ever lived.
  @inline(__always)
  func group(_ index: Int) -> RowGroup? {
    let (a, b, c, d) = GroupTree.split(index)
    guard a < root.count, b < root[a].count, c < root[a][b].count, d < root[a][b][c].count else {
      return nil
    }
    return root[a][b][c][d]
  }

  @inline(__always)
  private static func split(_ index: Int) -> (Int, Int, Int, Int) {
    (index >> 9, index >> 6 & 7, index >> 3 & 7, index & 7)
  }

  /// The group for writing, copied first if it is shared; made if it does not exist.
  mutating func writableGroup(_ index: Int) -> RowGroup {
    let (a, b, c, d) = GroupTree.split(index)
    if a >= root.count || b >= root[a].count || c >= root[a][b].count || d >= root[a][b][c].count {
      GroupTree.extend(&root, to: a, with: [])
      GroupTree.extend(&root[a], to: b, with: [])
      GroupTree.extend(&root[a][b], to: c, with: [])
      GroupTree.extend(&root[a][b][c], to: d, with: nil)
    }
    return GroupTree.makeWritable(&root[a][b][c][d])
  }

  private static func extend<T>(_ array: inout ContiguousArray<T>, to index: Int, with empty: T) {
    guard index >= array.count else { return }
    array.append(contentsOf: repeatElement(empty, count: index + 1 - array.count))
  }

  @inline(__always)
  private static func makeWritable(_ group: inout RowGroup?) -> RowGroup {
    if isKnownUniquelyReferenced(&group), let group { return group }
    let new = group.map(RowGroup.init(copying:)) ?? RowGroup()
    group = new
    return new
  }

  /// Puts another group in the place of one that is there.
  mutating func replaceGroup(_ index: Int, with group: RowGroup) {
    let (a, b, c, d) = GroupTree.split(index)
    root[a][b][c][d] = group
  }

  /// Forgets a group.
  mutating func removeGroup(_ index: Int) {
    guard group(index) != nil else { return }
    let (a, b, c, d) = GroupTree.split(index)
    root[a][b][c][d] = nil
  }

  /// The first index from `start` on whose group exists; nil if there is none.
  func nextIndex(from start: Int) -> Int? {
    var index = max(start, 0)
    while index < indexLimit {
      let (a, b, c, d) = GroupTree.split(index)
      // What is missing is stepped over whole.
      if b >= root[a].count {
        index = (a + 1) << 9
      } else if c >= root[a][b].count {
        index = (index >> 6 + 1) << 6
      } else if d >= root[a][b][c].count {
        index = (index >> 3 + 1) << 3
      } else if root[a][b][c][d] == nil {
        index += 1
      } else {
        return index
      }
    }
    return nil
  }
}
