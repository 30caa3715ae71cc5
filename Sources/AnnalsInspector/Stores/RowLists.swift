import Annals
import AnnalsStorage

/// The rows that the last queries found, in their order, so that paging through a result does not
/// sort it anew for each page.
final class RowLists: Sendable {
  struct Key: Hashable {
    var generation: UInt64
    var number: Int64
    var entity: EntityNumber
    var condition: String
    var sort: String
  }

  private let lists = Locked<[(key: Key, rows: ContiguousArray<Int64>)]>([])
  private static let most = 2
  /// Longer lists are not kept: 8 MB.
  static let longest = 1_000_000

  /// The rows of the query; nil if they are not kept.
  subscript(key: Key) -> ContiguousArray<Int64>? {
    lists.withLock { lists in lists.first { $0.key == key }?.rows }
  }

  /// Keeps the rows of a query, in place of the oldest.
  func keep(_ rows: ContiguousArray<Int64>, of key: Key) {
    guard rows.count <= RowLists.longest else { return }
    lists.withLock { lists in
      lists.removeAll { $0.key == key }
      lists.append((key, rows))
      if lists.count > RowLists.most { lists.removeFirst() }
    }
  }
}
