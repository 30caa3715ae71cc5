import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsState

/// Copies the tombstones (deletes of pruned history) of a damaged file.
enum SalvagedTombstones {
  /// Copies the readable frames in which `verify` would find nothing wrong, in front of the base.
  /// Returns their changes with large values, which must be written with the base, and whether all
  /// frames could be copied.
  static func write(
    _ survey: SalvageSurvey, _ base: SalvagedBase, _ largeValues: inout SalvagedLargeValues,
    from source: FrameSource, to target: LogSalvage
  ) throws -> (mentioning: [ChangeBatch], isWhole: Bool) {
    guard let state = base.state, let log = base.log, base.number > 0 else { return ([], true) }
    let checks = TransactionChecks(
      head: base.number, timestamp: .min, names: log.names, openings: log.openings,
      schema: state.schema)
    var mentioning: [ChangeBatch] = []
    var last: Int64 = 0
    var kept: Set<UInt64> = []
    for offset in survey.tombstoneOffsets {
      guard let (batch, payload) = try source.tombstones(at: offset),
        checks.fault(ofTombstones: batch) == nil, let first = batch.transactions.first,
        let end = batch.transactions.last, first.number >= last, end.number <= base.number
      else { continue }
      var own = ChangeBatch()
      own.arena = batch.arena
      own.properties = batch.properties.filter { $0.before.isLarge }
      if !own.properties.isEmpty {
        largeValues.noteReferences(in: own)
        var isWrong = false
        own.forEachLargeValue { if largeValues.fault(of: $0) != nil { isWrong = true } }
        if isWrong { continue }
        mentioning.append(own)
      }
      try payload.withUnsafeBytes {
        try target.append(tombstones: $0, count: batch.changes.count)
      }
      kept.insert(offset)
      last = end.number
    }
    // Nothing tells which deletes a missing frame held.
    let named = survey.tombstones
    let isWhole = named?.frames.allSatisfy { kept.contains($0.offset) } == true
    try target.remember(after: isWhole ? named?.completeAfter ?? 0 : base.number)
    return (mentioning, isWhole || named == nil && survey.tombstoneOffsets.isEmpty)
  }
}
