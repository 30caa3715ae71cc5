import AnnalsFormat
import AnnalsModel

/// Checks that the frames of a history follow one another: no transaction twice, none missing, and
/// each part of a transaction once and in order.
///
/// An opening checks this after the checkpoint it starts from. What lies before is checked only
/// when it is read.
struct HistoryOrder {
  private let direction: HistoryDirection
  /// The number that must come next; nil if any may.
  private var expected: Int64?
  /// The part that must come next; nil between transactions.
  private var part: UInt32?

  init(_ direction: HistoryDirection) { self.direction = direction }

  /// Notes that something was skipped.
  mutating func skip() {
    expected = nil
  }

  /// Sets what must come next, unless what was read before determines it.
  mutating func begin(at number: Int64) {
    if expected == nil { expected = number }
  }

  /// Whether no part is missing at the end of what was read.
  var isAtEnd: Bool { part == nil }

  /// Accepts the next frame: transactions of these numbers (for a gap record, all that it covers),
  /// or a part of one. Returns false if it does not follow.
  mutating func accept(_ numbers: ClosedRange<Int64>, part: UInt32?, isContinued: Bool) -> Bool {
    switch direction {
    case .forward: acceptForward(numbers, part, isContinued)
    case .backward: acceptBackward(numbers, part, isContinued)
    }
  }

  private mutating func acceptForward(
    _ numbers: ClosedRange<Int64>, _ next: UInt32?, _ isContinued: Bool
  ) -> Bool {
    guard expected == nil || numbers.lowerBound == expected, (next ?? 0) == (part ?? 0),
      part == nil || next != nil
    else { return false }
    part = isContinued ? (next ?? 0) &+ 1 : nil
    expected = isContinued ? numbers.lowerBound : numbers.upperBound + 1
    return true
  }

  private mutating func acceptBackward(
    _ numbers: ClosedRange<Int64>, _ next: UInt32?, _ isContinued: Bool
  ) -> Bool {
    guard expected == nil || numbers.upperBound == expected, isContinued == (part != nil),
      part == nil || next == part
    else { return false }
    let isLastToRead = (next ?? 0) == 0
    part = isLastToRead ? nil : (next ?? 0) - 1
    expected = isLastToRead ? numbers.lowerBound - 1 : numbers.upperBound
    return true
  }
}
