import AnnalsFormat
import AnnalsModel

/// A comparison that asks whether a column's numbers lie between two ends, so that it can be tested
/// on many words at once.
struct WordRange {
  private enum Ends {
    /// The kind of column, and both ends, which are in it.
    case ints(ColumnKind, Int64, Int64)
    case doubles(Double, Double)
  }

  let column: Int
  /// Whether a row without a value passes the test.
  let holdsOfNull: Bool
  private let ends: Ends
  /// Whether rows pass outside the ends instead of between them.
  private let isOutside: Bool

  /// Nil for other tests, and for one through a relationship.
  init?(_ step: BoundCondition.Step) {
    guard step.path.hops.isEmpty, let column = step.path.column else { return nil }
    var isOutside = false
    switch step.test {
    case .isBetween(let low, let high):
      guard let ends = WordRange.ends(low, high) else { return nil }
      self.ends = ends
    case .compare(let outcomes, let operand):
      isOutside = outcomes.contains([.less, .greater])
      let inside = isOutside ? [.equal] : outcomes
      guard let ends = WordRange.ends(inside, operand) else { return nil }
      self.ends = ends
    case .isNil, .isIn, .text, .contains, .some, .count: return nil
    }
    self.column = column
    self.isOutside = isOutside
    // For a row without a value, the default of a required attribute decides.
    if case .compare(let outcomes, let operand) = step.test {
      let outcome = step.path.fallbackBytes.withUnsafeBytes {
        operand.outcome(of: step.path.fallback, in: $0)
      }
      holdsOfNull = !outcome.isDisjoint(with: outcomes)
    } else {
      guard step.path.fallback.isNull else { return nil }
      holdsOfNull = false
    }
  }

  private static func ends(_ low: Operand, _ high: Operand) -> Ends? {
    switch (low, high) {
    case (.int(let low), .int(let high)): .ints(.int, low, high)
    case (.date(let low), .date(let high)): .ints(.date, low, high)
    case (.day(let low), .day(let high)): .ints(.day, low, high)
    case (.double(let low), .double(let high)): .doubles(low, high)
    default: nil
    }
  }

  private static func ends(_ outcomes: Outcome, _ operand: Operand) -> Ends? {
    switch operand {
    case .int(let value): return ints(.int, outcomes, value)
    case .date(let value): return ints(.date, outcomes, value)
    case .day(let value): return ints(.day, outcomes, value)
    case .double(let value):
      guard !value.isNaN else { return nil }
      switch outcomes.intersection([.less, .equal, .greater]) {
      case .equal: return .doubles(value, value)
      case .less: return .doubles(-.infinity, value.nextDown)
      case [.less, .equal]: return .doubles(-.infinity, value)
      case .greater: return .doubles(value.nextUp, .infinity)
      case [.greater, .equal]: return .doubles(value, .infinity)
      default: return nil
      }
    default: return nil
    }
  }

  private static func ints(_ kind: ColumnKind, _ outcomes: Outcome, _ value: Int64) -> Ends? {
    switch outcomes.intersection([.less, .equal, .greater]) {
    case .equal: return .ints(kind, value, value)
    case .less: return value == .min ? .ints(kind, 0, -1) : .ints(kind, .min, value - 1)
    case [.less, .equal]: return .ints(kind, .min, value)
    case .greater: return value == .max ? .ints(kind, 0, -1) : .ints(kind, value + 1, .max)
    case [.greater, .equal]: return .ints(kind, value, .max)
    default: return nil
    }
  }

  /// Those of the rows of which the test is true; nil if the leaf is of another kind.
  func held(of leaf: Leaf, _ rows: RowBits) -> RowBits? {
    let head = leaf.head.pointee
    let values = UnsafeRawPointer(leaf.words + Leaf.bitWords)
    switch ends {
    case .ints(let kind, let low, let high):
      guard head.kind == kind else { return nil }
      let values = values.assumingMemoryBound(to: Int64.self)
      return held(of: leaf, rows, head.rows) { low <= values[$0] && values[$0] <= high }
    case .doubles(let low, let high):
      guard head.kind == .double else { return nil }
      let values = values.assumingMemoryBound(to: Double.self)
      return held(of: leaf, rows, head.rows) { low <= values[$0] && values[$0] <= high }
    }
  }

  @inline(__always)
  private func held(
    of leaf: Leaf, _ rows: RowBits, _ count: Int, _ isBetween: (Int) -> Bool
  ) -> RowBits {
    var result = RowBits()
    for word in 0..<Leaf.bitWords {
      let wanted = rows[word]
      if wanted == 0 { continue }
      let first = word << 6
      var inside: UInt64 = 0
      for slot in first..<max(first, min(first + 64, count)) {
        inside |= (isBetween(slot) ? 1 : 0) << UInt64(slot - first)
      }
      let present = leaf.words[word]
      let held = (isOutside ? ~inside : inside) & present | (holdsOfNull ? ~present : 0)
      result.set(word, held & wanted)
    }
    return result
  }
}
