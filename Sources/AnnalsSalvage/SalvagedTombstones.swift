import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsState

/// The deletes of dropped history that a damaged file remembers.
enum SalvagedTombstones {
  /// Writes those frames, as they are, that can be read and that `verify` finds nothing wrong with,
  /// before the base. Returns those that mention large values, without the other changes: these
  /// values have to be there with the base; and whether all were there.
  static func write(
    _ survey: SalvageSurvey, _ base: SalvagedBase, _ blobs: inout SalvagedBlobs,
    from source: FrameSource, to target: LogSalvage
  ) throws -> (mentioning: [ChangeBatch], isWhole: Bool) {
    guard let state = base.state, base.number > 0 else { return ([], true) }
    let checks = CopyChecks(
      head: base.number, timestamp: .min, names: base.names, openings: base.openings,
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
        blobs.mention(own)
        var isWrong = false
        own.forEachLargeValue { if blobs.fault(of: $0) != nil { isWrong = true } }
        if isWrong { continue }
        mentioning.append(own)
      }
      try payload.withUnsafeBytes {
        try target.append(tombstones: $0, count: batch.changes.count)
      }
      kept.insert(offset)
      last = end.number
    }
    // Of what is missing nobody can tell what it was of.
    let named = survey.tombstones
    let isWhole = named?.frames.allSatisfy { kept.contains($0.offset) } == true
    try target.remember(after: isWhole ? named?.completeAfter ?? 0 : base.number)
    return (mentioning, isWhole || named == nil && survey.tombstoneOffsets.isEmpty)
  }
}
