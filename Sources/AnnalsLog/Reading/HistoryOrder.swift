import AnnalsFormat
import AnnalsModel

/// Makes sure that the frames of a history follow one another: no transaction a second time, none
/// missing, of one in parts each part once and in order.
///
/// An opening sees to that behind the checkpoint it starts from; what lies before is only looked at
/// when it is read.
struct HistoryOrder {
  private let direction: HistoryDirection
  /// The number nearest to what was read, which must come next; nil if anything may.
  private var expected: Int64?
  /// The part that comes next of a transaction in parts; nil between transactions.
  private var part: UInt32?

  init(_ direction: HistoryDirection) { self.direction = direction }

  /// Takes note that something was passed over.
  mutating func skip() {
    expected = nil
  }

  /// Says what must come next, unless what was read before says so.
  mutating func begin(at number: Int64) {
    if expected == nil { expected = number }
  }

  /// Whether no part is missing at the end of what is read.
  var isAtEnd: Bool { part == nil }

  /// Takes the next frame, of the transactions of these numbers (of a gap record all that it stands
  /// for), or a part of one. Returns false if it does not follow.
  mutating func take(_ numbers: ClosedRange<Int64>, part: UInt32?, isContinued: Bool) -> Bool {
    switch direction {
    case .forward: takeForward(numbers, part, isContinued)
    case .backward: takeBackward(numbers, part, isContinued)
    }
  }

  private mutating func takeForward(
    _ numbers: ClosedRange<Int64>, _ next: UInt32?, _ isContinued: Bool
  ) -> Bool {
    guard expected == nil || numbers.lowerBound == expected, (next ?? 0) == (part ?? 0),
      part == nil || next != nil
    else { return false }
    part = isContinued ? (next ?? 0) &+ 1 : nil
    expected = isContinued ? numbers.lowerBound : numbers.upperBound + 1
    return true
  }

  private mutating func takeBackward(
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
