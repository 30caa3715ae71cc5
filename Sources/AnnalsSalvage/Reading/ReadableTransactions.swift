import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsStorage

/// A cursor over every transaction that can be decoded from a file, however damaged, and the holes
/// between them.
///
/// Numbers always rise. A transaction of several parts comes part by part, and only if all parts
/// are there: the cursor reads ahead before it returns the first. Transactions behind the end of
/// the log, as a crash leaves them, come too if they decode: compare `offset` with `LogEnd`.
/// Memory: one frame and its batch.
package struct ReadableTransactions: Sendable {
  /// What comes next in the file.
  package enum Item: Sendable {
    /// The transactions of one frame, or one part of one transaction, are in `batch`.
    case transactions(offset: UInt64)
    /// Transactions are missing here.
    case hole(Hole)
  }

  /// Numbers that no readable transaction has.
  package struct Hole: Hashable, Sendable {
    /// The first missing number; nil if the base is unknown.
    package var first: Int64?
    /// The last missing number; nil at the end of the file, where there may be none.
    package var last: Int64?
    /// The unreadable bytes between the transactions around the hole; empty if there are none, so
    /// that the numbers themselves leap.
    package var bytes: Range<UInt64>
    /// Why they could not be read, in words.
    package var reason: String
  }

  /// The transactions of the last item.
  package private(set) var batch = ChangeBatch()
  /// Why the last frame that only a later version can decode was not, and its offset; nil if there
  /// was none.
  package private(set) var newer: (fault: DecodeFault, offset: UInt64)?
  private var walk: FileWalk
  /// The number that the next transaction should have; nil if the base is unknown.
  private var expected: Int64?
  /// The part that comes next of a transaction known to be complete.
  private var nextPart: UInt32 = 0
  /// What could not be read since the last transaction returned.
  private var lost: (bytes: Range<UInt64>, reason: String)?
  /// The frame of the transactions in `batch`, if the hole before them was returned first.
  private var waiting: UInt64?
  /// Zeros behind the last frame. Between frames, they are damage.
  private var zeros: Range<UInt64>?
  /// Large values and chunks whose transaction or directory should follow.
  private var unfinished: Range<UInt64>?

  /// A cursor at the beginning of an open file.
  package init(_ file: any StorageFile) throws(StorageError) {
    walk = try FileWalk(file)
    if let header = walk.restoredHeader { expected = header.base.successor }
  }

  /// A cursor at the frame at `offset`, which holds or begins the transaction `first`.
  package init(
    _ file: any StorageFile, from offset: UInt64, first: Int64
  ) throws(StorageError) {
    walk = try FileWalk(file)
    walk.jump(to: offset)
    expected = first
  }

  /// The next item; nil at the end of the file.
  package mutating func next() throws(StorageError) -> Item? {
    if let offset = waiting {
      waiting = nil
      return .transactions(offset: offset)
    }
    while let region = try walk.next() {
      if let frame = region.frame {
        if let zeros { note(zeros, "zeros amid the frames") }
        zeros = nil
        guard try decode(frame, in: region) else { continue }
        guard let first = batch.transactions.first, let last = batch.transactions.last else {
          continue
        }
        let hole = hole(before: first, at: region)
        expected = last.isContinued ? last.number : last.number.successor
        nextPart = last.isContinued ? last.part + 1 : 0
        lost = nil
        unfinished = nil
        guard let hole else { return .transactions(offset: region.offset) }
        waiting = region.offset
        return .hole(hole)
      } else if case .damaged(let reason) = region.content {
        note(region, reason.description)
      } else if case .unwritten = region.content {
        zeros = region.offset..<region.end
      }
    }
    return finalHole()
  }

  /// Decodes the frame into `batch`; false if it holds no usable transactions.
  private mutating func decode(
    _ frame: InspectedFrame, in region: FileRegion
  ) throws(StorageError) -> Bool {
    guard frame.header.kind.holdsTransactions else {
      if !frame.header.kind.isKnown, !frame.header.flags.contains(.skippable) {
        let kind = frame.header.kind
        note(region, "a frame of kind \(kind.rawValue), which this version cannot read")
      } else if frame.payload != .valid {
        note(region, frame.payload.description)
      } else if !frame.header.closesUnit {
        unfinished = (unfinished?.lowerBound ?? region.offset)..<region.end
      } else {
        unfinished = nil
      }
      return false
    }
    guard frame.payload == .valid else {
      note(region, frame.payload.description)
      return false
    }
    if let fault = try walk.decode(frame, in: region, into: &batch) {
      if fault.isNewer { newer = (fault, region.offset) }
      note(region, fault.description)
      return false
    }
    return try isUsable(region)
  }

  /// Whether the batch continues the transaction returned last, or begins a complete one.
  private mutating func isUsable(_ region: FileRegion) throws(StorageError) -> Bool {
    guard let first = batch.transactions.first, let last = batch.transactions.last else {
      return false
    }
    if nextPart > 0 {
      // All parts were there when the first was returned, so this fails only if the file changes
      // meanwhile.
      if first.number == expected, first.part == nextPart { return true }
      note(region, "transaction \(first.number) amid another")
      nextPart = 0
      return false
    }
    if first.part > 0 {
      note(region, "a part of transaction \(first.number) without those before it")
      return false
    }
    if let record = batch.transactions.first(where: { !mayBeKnown($0) }) {
      note(region, "transaction \(record.number) speaks of more names than the file can hold")
      return false
    }
    var number = first.number
    for record in batch.transactions.dropFirst() {
      if record.number <= number {
        note(region, "transactions whose numbers do not rise")
        return false
      }
      number = record.number
    }
    if let expected, first.firstNumber < expected {
      note(region, "transaction \(first.firstNumber) a second time")
      return false
    }
    if last.isContinued, try !isComplete(last) {
      note(region, "transaction \(last.number), whose later parts are missing")
      return false
    }
    return true
  }

  /// Whether the file can have held all names and openings that a record refers to, at half a byte
  /// each. A salvage makes up those that are missing, so their number must be bounded.
  private func mayBeKnown(_ record: TransactionRecord) -> Bool {
    let opening = record.openings.first
    return [
      record.author, record.context, record.firstNewName, record.opening, opening?.number ?? 0,
    ].allSatisfy { UInt64($0) / 2 <= walk.size }
  }

  /// Whether all parts behind this one can be read, with no frames between them but large values.
  private func isComplete(_ record: TransactionRecord) throws(StorageError) -> Bool {
    var ahead = walk
    var scratch = ChangeBatch()
    var part = record.part
    while let region = try ahead.next() {
      guard let frame = region.frame else { continue }
      guard frame.header.kind.holdsTransactions else {
        if frame.header.kind == .largeValue { continue }
        return false
      }
      guard frame.payload == .valid, try ahead.decode(frame, in: region, into: &scratch) == nil,
        let next = scratch.transactions.first, next.number == record.number, next.part == part + 1
      else { return false }
      if !next.isContinued { return true }
      part = next.part
    }
    return false
  }

  private mutating func note(_ region: FileRegion, _ reason: String) {
    note(region.offset..<region.end, reason)
  }

  private mutating func note(_ bytes: Range<UInt64>, _ reason: String) {
    let known = lost?.bytes ?? bytes
    let start = min(known.lowerBound, bytes.lowerBound)
    lost = (start..<max(known.upperBound, bytes.upperBound), lost?.reason ?? reason)
  }

  private func hole(before record: TransactionRecord, at region: FileRegion) -> Hole? {
    if let expected, record.firstNumber == expected { return nil }
    // If the base is unknown, nothing is missing before the first transaction, unless there are
    // unreadable bytes.
    if expected == nil, lost == nil { return nil }
    let bytes = lost?.bytes ?? region.offset..<region.offset
    return Hole(
      first: expected, last: record.firstNumber - 1, bytes: bytes,
      reason: lost?.reason ?? "nothing is unreadable: the numbers themselves leap")
  }

  private mutating func finalHole() -> Item? {
    // The transaction or directory that they belong to would have followed.
    if let unfinished { note(unfinished, "the end of what begins there is missing") }
    unfinished = nil
    guard let lost else { return nil }
    self.lost = nil
    return .hole(Hole(first: expected, last: nil, bytes: lost.bytes, reason: lost.reason))
  }
}
