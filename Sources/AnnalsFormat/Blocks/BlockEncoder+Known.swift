import AnnalsModel

extension BlockEncoder {
  /// Fewer known values than one in so many changes of the property are not worth finding again.
  private static let leastShare = 8

  /// For each property of an entity whose values before are left out where an earlier change tells
  /// them: the property changes that have the others, in order. Nil for other properties.
  func unknownSlots(
    of entity: BlockSummary.EntitySummary, _ layout: BlockLayout,
    _ shapeOf: UnsafeMutableBufferPointer<Int64>, _ rows: UnsafeMutableBufferPointer<Int64>,
    _ firsts: UnsafeMutableBufferPointer<UInt32>, _ batch: ChangeBatch
  ) -> ContiguousArray<ContiguousArray<UInt32>?> {
    var result = ContiguousArray<ContiguousArray<UInt32>?>(
      repeating: nil, count: entity.properties.count)
    // A transaction changes an object once.
    guard summary.transactionCount > 1 else { return result }
    let objects = BlockObjects(rows, from: entity.minimumRow, through: entity.maximumRow)
    guard objects.count < rows.count else { return result }
    var known = KnownValues(objects, kinds: layout.kinds(shapeOf))
    let isReplaced = ContiguousArray(result.indices.map { !layout.columns[2 * $0].isEmpty })
    let uses = layout.uses(of: isReplaced, without: known.isLoneInsert, shapeOf, firsts)
    for ordinal in result.indices where isReplaced[ordinal] {
      // A change that replaces a value is in both columns.
      let values = layout.columns[2 * ordinal].count + layout.columns[2 * ordinal + 1].count
      result[ordinal] = unknownSlots(
        uses.all[uses.ranges[ordinal]], of: values, known: &known, batch)
    }
    return result
  }

  /// The slots of these uses whose values before are not known; nil if too few of the column's
  /// values are known, or one is not what an earlier change tells.
  private func unknownSlots(
    _ uses: ContiguousArray<KnownValues.Use>.SubSequence, of values: Int, known: inout KnownValues,
    _ batch: ChangeBatch
  ) -> ContiguousArray<UInt32>? {
    var slots: ContiguousArray<UInt32> = []
    var knownCount = 0
    var isRight = true
    batch.arena.withUnsafeBytes { arena in
      batch.properties.withUnsafeBufferPointer { properties in
        known.forEach(uses) { use, source in
          let change = properties[Int(use.slot)]
          // Edits are no values.
          if change.isEdits { isRight = false }
          switch source {
          case .unknown: return slots.append(use.slot)
          case .null: isRight = isRight && change.before.isNull
          case .slot(let slot):
            let earlier = properties[Int(slot)].after
            isRight = isRight && ValueCell.areEqual(change.before, in: arena, earlier, in: arena)
          }
          knownCount += 1
        }
      }
    }
    return isRight && knownCount * BlockEncoder.leastShare >= values ? slots : nil
  }
}
