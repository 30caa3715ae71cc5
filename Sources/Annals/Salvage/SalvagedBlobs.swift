import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel

/// The large values of a salvage, in the order of their numbers: those that are whole, and those
/// that are spoken of though they are lost.
struct SalvagedBlobs {
  private var whole: [SalvageSurvey.Blob]
  private var byNumber: [UInt64: SalvageSurvey.Blob]
  private var next = 0
  /// Lost values that were spoken of and are not yet written, by number.
  private var pending: [UInt64: LargeValue] = [:]
  /// The greatest number written.
  private var last: UInt64 = 0
  /// The lost values that were written as such.
  private(set) var lostValues: [LargeValue] = []

  init(_ survey: SalvageSurvey) {
    whole = survey.blobs
    byNumber = Dictionary(survey.blobs.map { ($0.number, $0) }) { first, _ in first }
    mention(survey.mentioned)
  }

  /// Takes note that values are spoken of.
  mutating func mention(_ values: [UInt64: LargeValue]) {
    for (number, value) in values where number > last {
      if let found = byNumber[number] {
        if found.suits(value) { continue }
        // Other bytes than those spoken of are as good as none.
        byNumber[number] = nil
        whole.removeAll { $0.number == number }
      }
      pending[number] = value
    }
  }

  /// Takes note of what changes speak of.
  mutating func mention(_ batch: ChangeBatch) { mention(SalvagedBlobs.values(in: batch)) }

  private static func values(in batch: ChangeBatch) -> [UInt64: LargeValue] {
    var values: [UInt64: LargeValue] = [:]
    batch.arena.withUnsafeBytes { arena in
      for property in batch.properties {
        for cell in [property.before, property.after] where cell.isLarge {
          if case .large(let value) = cell.value(in: arena) { values[value.number] = value }
        }
      }
    }
    return values
  }

  /// Writes the whole values that stand before `offset`, and the lost ones numbered before them.
  mutating func write(
    before offset: UInt64, from source: FrameSource, to target: LogSalvage
  ) throws {
    while next < whole.count, whole[next].offset < offset {
      let blob = whole[next]
      next += 1
      try writeLost(upTo: blob.number, to: target)
      guard blob.number > last else { continue }
      try copy(blob, from: source, to: target)
      last = blob.number
    }
  }

  private func copy(
    _ blob: SalvageSurvey.Blob, from source: FrameSource, to target: LogSalvage
  ) throws {
    var offset = blob.offset
    while let (header, payload) = try source.frame(at: offset) {
      let isLast = !header.flags.contains(.continued)
      try payload.withUnsafeBytes {
        try target.append(
          blobPiece: $0, number: blob.number, length: blob.length, isFirst: offset == blob.offset,
          isLast: isLast)
      }
      if isLast { return }
      offset += header.frameLength
    }
  }

  /// Writes the lost values that a batch speaks of.
  mutating func write(mentionedIn batch: ChangeBatch, to target: LogSalvage) throws {
    if pending.isEmpty { return }
    let greatest = SalvagedBlobs.values(in: batch).keys.filter { pending[$0] != nil }.max()
    if let greatest { try writeLost(upTo: greatest, to: target) }
  }

  /// Writes the lost values of a state, as far as none that is whole must come before them.
  mutating func writeLost(of values: [UInt64: LargeValue], to target: LogSalvage) throws {
    let limit = next < whole.count ? whole[next].number : .max
    if let greatest = values.keys.filter({ pending[$0] != nil && $0 < limit }).max() {
      try writeLost(upTo: greatest, to: target)
    }
  }

  /// Writes what was spoken of and not yet written.
  mutating func writeRest(to target: LogSalvage) throws { try writeLost(upTo: .max, to: target) }

  private mutating func writeLost(upTo limit: UInt64, to target: LogSalvage) throws {
    if pending.isEmpty { return }
    for number in pending.keys.filter({ $0 <= limit }).sorted() {
      guard let value = pending.removeValue(forKey: number), number > last else { continue }
      try target.append(lostBlob: number, length: value.length)
      lostValues.append(value)
      last = number
    }
  }
}
