import AnnalsFormat
import AnnalsModel

/// The list chunks of the newest checkpoint, so that the next one writes only those whose
/// references have changed. A value.
///
/// Trades the memory of one more list of references for a checkpoint that costs what changed: of
/// 100 million rows each column has 24,000 chunks at least, in six lists or more.
struct ListedReferences: Sendable {
  /// A list chunk and its content.
  private struct Known: Sendable {
    var entity: EntityNumber
    var property: PropertyNumber
    var list: ChunkReference
    var references: ArraySlice<ChunkReference>

    /// The order in which lists are written.
    func precedes(_ entity: EntityNumber, _ property: PropertyNumber, _ first: Int64) -> Bool {
      (self.entity, self.property, list.first) < (entity, property, first)
    }
  }

  /// By entity, property and row. The search for a list begins where the last was found: a
  /// dictionary would cost each opening the look-up of a conformance.
  private var known: [Known] = []

  /// Fewer references than this stay in the directory.
  static let fewest = 64

  init() {}

  /// The list chunks of a directory whose lists are resolved.
  init(_ directory: CheckpointDirectory) {
    for entity in directory.entities {
      remember(entity.rowLists, of: entity.rows, entity.entity, 0)
      for column in entity.columns {
        remember(column.lists, of: column.chunks, entity.entity, column.property)
      }
    }
  }

  private mutating func remember(
    _ lists: [ChunkReference], of references: [ChunkReference], _ entity: EntityNumber,
    _ property: PropertyNumber
  ) {
    var start = 0
    for list in lists {
      let end = min(start + Int(list.count), references.count)
      known.append(
        Known(
          entity: entity, property: property, list: list, references: references[start..<end]))
      start = end
    }
  }

  /// The entity directories of a checkpoint. Long lists of references become list chunks; those
  /// that the last checkpoint had unchanged are not stored again.
  mutating func checkpoint(
    _ entities: [EntityDirectory],
    _ store: ChunkStore
  ) throws(LogError) -> [EntityDirectory] {
    var result = entities
    var new: [Known] = []
    var place = 0
    for entity in result.indices {
      let number = result[entity].entity
      (result[entity].rowLists, result[entity].rows) = try list(
        result[entity].rows, number, 0, &place, &new, store)
      for column in result[entity].columns.indices {
        let listed = result[entity].columns[column]
        let (lists, rest) = try list(
          listed.chunks, number, listed.property, &place, &new, store)
        result[entity].columns[column].lists = lists
        result[entity].columns[column].chunks = rest
      }
    }
    known = new
    return result
  }

  private func list(
    _ references: [ChunkReference], _ entity: EntityNumber, _ property: PropertyNumber,
    _ place: inout Int, _ new: inout [Known],
    _ store: ChunkStore
  ) throws(LogError) -> (lists: [ChunkReference], rest: [ChunkReference]) {
    guard references.count >= ListedReferences.fewest else { return ([], references) }
    var lists: [ChunkReference] = []
    var start = 0
    while start < references.count {
      let end = ListedReferences.end(of: references, from: start)
      let run = references[start..<end]
      let first = run[start].first
      while place < known.count, known[place].precedes(entity, property, first) { place += 1 }
      if place < known.count, known[place].entity == entity, known[place].property == property,
        known[place].references == run
      {
        new.append(known[place])
      } else {
        var payload: ContiguousArray<UInt8> = []
        ReferenceListCodec.encode(run, entity: entity, property: property, into: &payload)
        let list = try payload.withBytes { bytes throws(LogError) in
          try store(bytes, first, UInt32(run.count))
        }
        new.append(Known(entity: entity, property: property, list: list, references: run))
      }
      lists.append(new[new.count - 1].list)
      start = end
    }
    return (lists, [])
  }

  /// Where the list that begins with a reference ends: at a fixed range of groups, so that the
  /// lists of other ranges do not change.
  private static func end(of references: [ChunkReference], from start: Int) -> Int {
    let rows = Int64(RowPresence.maximumSpan * ReferenceListCodec.maximumCount)
    let range = (references[start].first - 1) / rows
    var end = start + 1
    while end < references.count, end - start < ReferenceListCodec.maximumCount,
      (references[end].first - 1) / rows == range
    {
      end += 1
    }
    return end
  }
}
