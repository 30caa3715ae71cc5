import AnnalsModel
import Foundation

/// The clock of a time zone in whole seconds: what it shows at a moment, and when it first shows a
/// time.
package struct ZoneClock: Sendable {
  /// The zone; nil if it is only known by its offsets.
  package let zone: TimeZone?
  private let offsets: @Sendable (Int64) -> Int64

  /// The clock of a zone.
  package init(_ zone: TimeZone) {
    self.zone = zone
    offsets = { Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double($0)))) }
  }

  /// A clock that is so many seconds ahead of UTC at each second since 1970.
  package init(offsets: @escaping @Sendable (Int64) -> Int64) {
    zone = nil
    self.offsets = offsets
  }

  /// How many seconds the clock is ahead of UTC.
  func offset(at second: Int64) -> Int64 { offsets(second) }

  /// The first second at which the clock shows `shown` or later, both counted from 1970-01-01
  /// 00:00:00; if clocks are set forward past it, the second of that change.
  func first(showing shown: Int64) -> Int64 {
    // No zone is further from UTC than 26 hours, nor was any.
    let reach: Int64 = 26 * 3_600
    var result: Int64?
    segments(shown - reach..<shown + reach) { segment, offset in
      let second = max(shown - offset, segment.lowerBound)
      guard second < segment.upperBound else { return true }
      result = second
      return false
    }
    return result ?? shown + reach
  }

  /// The part of a range around a moment without a change of the clock.
  func unchanged(around second: Int64, in range: Range<Int64>) -> Range<Int64> {
    var result = range
    segments(range) { segment, _ in
      result = segment
      return !segment.contains(second)
    }
    return result
  }

  /// Calls `body` with the parts of a range between changes of the clock, and its offset there,
  /// until it returns false. Finds changes that last at least six hours.
  private func segments(_ range: Range<Int64>, _ body: (Range<Int64>, Int64) -> Bool) {
    var start = range.lowerBound
    var known = start
    var offset = offset(at: start)
    while known < range.upperBound {
      let next = min(known + 6 * 3_600, range.upperBound)
      guard self.offset(at: next) != offset else {
        known = next
        continue
      }
      var low = known
      var high = next
      while high - low > 1 {
        let middle = low + (high - low) / 2
        if self.offset(at: middle) == offset { low = middle } else { high = middle }
      }
      if high == range.upperBound { break }
      guard body(start..<high, offset) else { return }
      start = high
      known = high
      offset = self.offset(at: high)
    }
    _ = body(start..<range.upperBound, offset)
  }
}
