import AnnalsEngine
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsState

/// The large values of a salvage, in the order of their numbers: those that are whole, and those
/// that are spoken of though they are lost.
struct SalvagedBlobs {
  private var whole: [SalvageSurvey.Blob]
  private var byNumber: [UInt64: SalvageSurvey.Blob]
  private var next = 0
  /// Lost values that were spoken of and are not yet written, by number.
  private var pending: [UInt64: LargeValue] = [:]
  /// What was written, by number: its length, and its checksum if its bytes are not lost.
  private var written: [UInt64: (length: UInt64, checksum: UInt32?)] = [:]
  /// The greatest number written.
  private var last: UInt64 = 0
  /// The lost values that were written as such.
  private(set) var lostValues: [LargeValue] = []

  /// What a file has; `base` is what its base speaks of, beside what its transactions do.
  ///
  /// Bytes that suit nobody who speaks of them are as good as none. Bytes that suit some are those
  /// that were meant: who says otherwise of them is wrong (`fault`).
  init(_ survey: SalvageSurvey, base: [UInt64: LargeValue]) {
    byNumber = Dictionary(survey.blobs.map { ($0.number, $0) }) { first, _ in first }
    for (number, blob) in byNumber {
      let speakers = [survey.mentioned[number], base[number]].compactMap { $0 }
      if !speakers.isEmpty, !speakers.contains(where: blob.suits) { byNumber[number] = nil }
    }
    // Behind the greatest number no writer could go on.
    byNumber[FormatLimits.maximumNumber] = nil
    let kept = byNumber
    whole = survey.blobs.filter { kept[$0.number] != nil }
    mention(survey.mentioned)
    mention(base)
  }

  /// Takes note that values are spoken of.
  mutating func mention(_ values: [UInt64: LargeValue]) {
    for (number, value) in values where number > last && SalvagedBlobs.canBeLost(value) {
      if byNumber[number] == nil, pending[number] == nil { pending[number] = value }
    }
  }

  /// Whether a store can say that it lost the value: none has one with such a number or length
  /// otherwise.
  private static func canBeLost(_ value: LargeValue) -> Bool {
    value.number > 0 && value.number < FormatLimits.maximumNumber
      && value.length > 0 && value.length <= FormatLimits.maximumNumber
  }

  /// What is wrong with what is said of a large value, next to the one that is written under its
  /// number, or will be, in words; nil if nothing is.
  func fault(of value: LargeValue) -> String? {
    if let found = written[value.number] {
      return BlobChecks.contradiction(to: value, length: found.length, checksum: found.checksum)
    }
    // Numbers rise: it can be written no more.
    if value.number <= last { return BlobChecks.missing(value) }
    if let lost = pending[value.number] {
      return BlobChecks.contradiction(to: value, length: lost.length, checksum: nil)
    }
    guard let found = byNumber[value.number] else {
      return SalvagedBlobs.canBeLost(value) ? nil : BlobChecks.missing(value)
    }
    return BlobChecks.contradiction(
      to: value, length: found.length, checksum: found.isLost ? nil : found.checksum)
  }

  /// The first transaction that says something wrong of large values, and what, in words; nil if
  /// none does.
  func fault(in batch: ChangeBatch) -> (number: Int64, reason: String)? {
    var hasAny = false
    batch.forEachLargeValue { hasAny = hasAny || fault(of: $0) != nil }
    guard hasAny else { return nil }
    for record in batch.transactions {
      var own = ChangeBatch()
      own.append(record, from: batch)
      var found: String?
      own.forEachLargeValue { found = found ?? fault(of: $0) }
      if let found { return (record.number, "it has \(found)") }
    }
    return nil
  }

  /// Whether a state says nothing wrong of large values. O(size of the state).
  func suit(_ state: State) throws -> Bool {
    var isRight = true
    var seen: [UInt64: LargeValue] = [:]
    try state.forEachLargeValue { _, _, value in
      if fault(of: value) != nil || seen[value.number].map({ $0.length != value.length }) == true {
        isRight = false
      }
      seen[value.number] = value
    }
    return isRight
  }

  /// The state without what it says wrongly of large values. O(size of the state).
  func suited(_ state: State) throws -> State {
    var wrong: [(object: ObjectReference, property: PropertyNumber)] = []
    try state.forEachLargeValue { object, property, value in
      if fault(of: value) != nil { wrong.append((object, property)) }
    }
    var result = state
    for (object, property) in wrong {
      try result.set(object.entity, object.row, property, to: .null)
    }
    return result
  }

  /// Takes note of what changes speak of.
  mutating func mention(_ batch: ChangeBatch) { mention(SalvagedBlobs.values(in: batch)) }

  private static func values(in batch: ChangeBatch) -> [UInt64: LargeValue] {
    var values: [UInt64: LargeValue] = [:]
    batch.forEachLargeValue { values[$0.number] = $0 }
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
    written[last] = (blob.length, blob.isLost ? nil : blob.checksum)
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

  /// Writes the values that a batch speaks of, lost or whole, unless they are written.
  mutating func write(
    mentionedIn batch: ChangeBatch, from source: FrameSource, to target: LogSalvage
  ) throws {
    if pending.isEmpty, next == whole.count { return }
    try write(SalvagedBlobs.values(in: batch), from: source, to: target)
  }

  /// Writes these values, lost or whole, unless they are written.
  mutating func write(
    _ values: [UInt64: LargeValue], from source: FrameSource, to target: LogSalvage
  ) throws {
    guard let greatest = values.keys.max(), greatest > last else { return }
    try writeLost(upTo: greatest, from: source, to: target)
    while next < whole.count, whole[next].number <= greatest {
      try writeNext(from: source, to: target)
    }
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
      written[number] = (value.length, nil)
    }
  }
}
