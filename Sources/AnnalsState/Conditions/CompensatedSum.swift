/// A sum of doubles that compensates rounding errors (Neumaier). Sums beyond the greatest double
/// are kept, so that the order of the numbers makes no difference.
package struct CompensatedSum: Sendable {
  private var sum = 0.0
  private var lost = 0.0
  /// What the numbers are multiplied by: a power of two, less than 1 once a sum was too great.
  private var scale = 1.0

  /// The sum of no numbers.
  package init() {}

  /// Adds a number.
  package mutating func add(_ number: Double) {
    let scaled = number * scale
    let next = sum + scaled
    guard next.isFinite || scale < 1 else {
      (sum, lost, scale) = (sum * 0x1p-64, lost * 0x1p-64, 0x1p-64)
      return add(number)
    }
    lost += abs(sum) >= abs(scaled) ? (sum - next) + scaled : (scaled - next) + sum
    sum = next
  }

  /// The sum divided by a number; not finite beyond the greatest double.
  package func divided(by divisor: Double) -> Double {
    (sum.isFinite ? sum + lost : sum) / divisor / scale
  }
}
