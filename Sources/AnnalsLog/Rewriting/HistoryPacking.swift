/// How a rewrite packs history: larger blocks and a higher level make a smaller file, from which
/// single transactions are read more slowly, as their whole block is.
package struct HistoryPacking: Sendable {
  /// How many bytes of row form go into one block.
  var blockLength: Int
  /// The level of deflate.
  var level: Int32
  /// Whether parts of large transactions are packed anew: as whole ones if they are not too long.
  var repacksParts: Bool
  /// Whether blocks are packed anew, together with their neighbours.
  var repacksBlocks: Bool

  /// For a rewrite that is about something else: prune, erase.
  package static let fast = HistoryPacking(
    blockLength: 1 << 20, level: 1, repacksParts: false, repacksBlocks: false)
  /// For a smaller file.
  package static let small = HistoryPacking(
    blockLength: 1 << 20, level: 6, repacksParts: true, repacksBlocks: false)
  /// For the smallest file.
  package static let smallest = HistoryPacking(
    blockLength: 8 << 20, level: 6, repacksParts: true, repacksBlocks: true)
}
