import AnnalsEngine
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsState

/// Writes the large values of a salvage in the order of their numbers: intact ones, and, in place
/// of lost ones that are referred to, frames that say so.
struct SalvagedLargeValues {
  private let survey: SalvageSurvey
  private var whole: [SalvageSurvey.WholeLargeValue]
  private var byNumber: [UInt64: SalvageSurvey.WholeLargeValue]
  private var next = 0
  /// Lost values that are referred to and not yet written, by number.
  private var pending: [UInt64: LargeValue] = [:]
  /// The values written, by number: the length, and the checksum; nil if the bytes are lost.
  private var written: [UInt64: (length: UInt64, checksum: UInt32?)] = [:]
  /// The greatest number written.
  private var last: UInt64 = 0
  /// The values written as lost.
  private(set) var lostValues: [LargeValue] = []

  /// The values of a file. `base` holds the references of its base; those of its transactions are
  /// in the survey.
  ///
  /// A value that matches none of the references to it counts as lost. If it matches some, the
  /// other references are wrong (`fault`).
  init(_ survey: SalvageSurvey, base: [UInt64: LargeValue]) {
    self.survey = survey
    byNumber = Dictionary(survey.largeValues.map { ($0.number, $0) }) { first, _ in first }
    for (number, largeValue) in byNumber {
      let references = [survey.mentioned[number], base[number]].compactMap { $0 }
      if !references.isEmpty, !references.contains(where: largeValue.matches) {
        byNumber[number] = nil
      }
    }
    // A writer could not add a value after the greatest number.
    byNumber[FormatLimits.maximumNumber] = nil
    let kept = byNumber
    whole = survey.largeValues.filter { kept[$0.number] != nil }
    noteReferences(survey.mentioned)
    noteReferences(base)
  }

  /// Records references to values.
  mutating func noteReferences(_ values: [UInt64: LargeValue]) {
    for (number, value) in values where number > last && SalvagedLargeValues.canBeLost(value) {
      if byNumber[number] == nil, pending[number] == nil { pending[number] = value }
    }
  }

  /// Whether the value can be written as lost: its number and length are within the limits.
  private static func canBeLost(_ value: LargeValue) -> Bool {
    value.number > 0 && value.number < FormatLimits.maximumNumber
      && value.length > 0 && value.length <= FormatLimits.maximumNumber
  }

  /// How a reference contradicts the value that is, or will be, written under its number; nil if it
  /// does not.
  func fault(of value: LargeValue) -> String? {
    if let found = written[value.number] {
      return LargeValueChecks.contradiction(
        to: value, length: found.length, checksum: found.checksum)
    }
    // Numbers rise, so it can no longer be written.
    if value.number <= last { return LargeValueChecks.missing(value) }
    if let lost = pending[value.number] {
      return LargeValueChecks.contradiction(to: value, length: lost.length, checksum: nil)
    }
    guard let found = byNumber[value.number] else {
      return SalvagedLargeValues.canBeLost(value) ? nil : LargeValueChecks.missing(value)
    }
    return LargeValueChecks.contradiction(
      to: value, length: found.length, checksum: found.isLost ? nil : found.checksum)
  }

  /// The first transaction with a wrong reference to a large value, and what is wrong; nil if there
  /// is none.
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

  /// Whether no reference in a state is wrong. O(size of the state).
  func match(_ state: State) throws -> Bool {
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

  /// The state with wrong references replaced by null. O(size of the state).
  func removingMismatches(from state: State) throws -> State {
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

  /// Records the references in some changes.
  mutating func noteReferences(in batch: ChangeBatch) {
    noteReferences(SalvagedLargeValues.values(in: batch))
  }

  private static func values(in batch: ChangeBatch) -> [UInt64: LargeValue] {
    var values: [UInt64: LargeValue] = [:]
    batch.forEachLargeValue { values[$0.number] = $0 }
    return values
  }

  /// Writes the intact values before `offset`, and the lost ones with lower numbers.
  mutating func write(
    before offset: UInt64, from source: FrameSource, to target: LogSalvage
  ) throws {
    while next < whole.count, whole[next].offset < offset {
      try writeLost(upTo: whole[next].number, from: source, to: target)
      try writeNext(from: source, to: target)
    }
  }

  private mutating func writeNext(from source: FrameSource, to target: LogSalvage) throws {
    let largeValue = whole[next]
    next += 1
    guard largeValue.number > last else { return }
    try copy(largeValue, from: source, to: target)
    last = largeValue.number
    written[last] = (largeValue.length, largeValue.isLost ? nil : largeValue.checksum)
  }

  private func copy(
    _ largeValue: SalvageSurvey.WholeLargeValue, from source: FrameSource, to target: LogSalvage
  ) throws {
    var offset = largeValue.offset
    while let (header, payload) = try source.frame(at: offset) {
      let isLast = !header.flags.contains(.continued)
      try payload.withUnsafeBytes { bytes in
        let stored = try LargeValueCodec.decode(bytes)
        let piece = try source.made(stored) { survey.offset(ofLargeValue: $0) }.get()
        try target.append(piece, isLast: isLast)
      }
      if isLast { return }
      offset += header.frameLength
    }
  }

  /// Writes the values that a batch refers to, lost or intact, unless they are written.
  mutating func write(
    mentionedIn batch: ChangeBatch, from source: FrameSource, to target: LogSalvage
  ) throws {
    if pending.isEmpty, next == whole.count { return }
    try write(SalvagedLargeValues.values(in: batch), from: source, to: target)
  }

  /// Writes these values, lost or intact, unless they are written.
  mutating func write(
    _ values: [UInt64: LargeValue], from source: FrameSource, to target: LogSalvage
  ) throws {
    guard let greatest = values.keys.max(), greatest > last else { return }
    try writeLost(upTo: greatest, from: source, to: target)
    while next < whole.count, whole[next].number <= greatest {
      try writeNext(from: source, to: target)
    }
  }

  /// Writes the lost values that are not yet written. No transaction of the new file refers to
  /// them.
  mutating func writePending(from source: FrameSource, to target: LogSalvage) throws {
    try writeLost(upTo: .max, from: source, to: target)
  }

  /// Counts the lost values that are not yet written as lost, without writing them.
  mutating func abandonPending() {
    lostValues += pending.values
    pending = [:]
  }

  /// Writes the lost values up to a number, and before each the intact ones with lower numbers:
  /// numbers must rise.
  private mutating func writeLost(
    upTo limit: UInt64, from source: FrameSource, to target: LogSalvage
  ) throws {
    if pending.isEmpty { return }
    for number in pending.keys.filter({ $0 <= limit }).sorted() {
      while next < whole.count, whole[next].number < number {
        try writeNext(from: source, to: target)
      }
      guard let value = pending.removeValue(forKey: number), number > last else { continue }
      try target.append(lostLargeValue: number, length: value.length)
      lostValues.append(value)
      last = number
      written[number] = (value.length, nil)
    }
  }
}
