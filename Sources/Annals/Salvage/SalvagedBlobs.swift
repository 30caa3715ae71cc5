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
      try writeLost(upTo: whole[next].number, from: source, to: target)
      try writeNext(from: source, to: target)
    }
  }

  private mutating func writeNext(from source: FrameSource, to target: LogSalvage) throws {
    let blob = whole[next]
    next += 1
    guard blob.number > last else { return }
    try copy(blob, from: source, to: target)
    last = blob.number
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
  mutating func write(
    mentionedIn batch: ChangeBatch, from source: FrameSource, to target: LogSalvage
  ) throws {
    if pending.isEmpty { return }
    try writeLost(of: SalvagedBlobs.values(in: batch), from: source, to: target)
  }

  /// Writes the lost ones of these values.
  mutating func writeLost(
    of values: [UInt64: LargeValue], from source: FrameSource, to target: LogSalvage
  ) throws {
    let greatest = values.keys.filter { pending[$0] != nil }.max()
    if let greatest { try writeLost(upTo: greatest, from: source, to: target) }
  }

  /// Writes what was spoken of and not yet written: nothing that is in the new file speaks of it.
  mutating func writeRest(from source: FrameSource, to target: LogSalvage) throws {
    try writeLost(upTo: .max, from: source, to: target)
  }

  /// Gives up what was spoken of and not yet written.
  mutating func giveUpRest() {
    lostValues += pending.values
    pending = [:]
  }

  /// Writes the lost values up to a number, and before them the whole ones with lower numbers:
  /// numbers rise, or what comes later could not be written any more.
  private mutating func writeLost(
    upTo limit: UInt64, from source: FrameSource, to target: LogSalvage
  ) throws {
    if pending.isEmpty { return }
    for number in pending.keys.filter({ $0 <= limit }).sorted() {
      while next < whole.count, whole[next].number < number {
        try writeNext(from: source, to: target)
      }
      guard let value = pending.removeValue(forKey: number), number > last else { continue }
      try target.append(lostBlob: number, length: value.length)
      lostValues.append(value)
      last = number
    }
  }
}
