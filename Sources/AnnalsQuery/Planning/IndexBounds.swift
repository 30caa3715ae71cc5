import AnnalsModel
import AnnalsState

/// The parts of an index in which a condition can be met.
struct IndexBounds {
  /// The ends of each part. Parts may overlap, in any order.
  private(set) var ends: [(low: IndexBound, high: IndexBound)] = []
  /// The values of the first columns that all objects there share.
  private(set) var singles: [Value] = []
  /// Whether all columns have a single value there.
  private(set) var isWhole = true
  /// Whether the condition excludes anything.
  private(set) var narrows = true
  /// The conditions that need no test: every object there meets them.
  private(set) var covered: Set<Int>

  /// The parts of an index that conditions, all of them required, leave.
  ///
  /// An OR or IN counts if each of its alternatives narrows the column at which the others end.
  init(_ parts: [Condition], _ shape: IndexShape, of entity: Entity) {
    covered = Set(parts.indices)
    for (number, alternative) in IndexBounds.alternatives(parts, shape, entity).enumerated() {
      let ranges = alternative.ranges(of: entity)
      let bounds = SingleBounds(shape, ranges)
      ends.append((bounds.low, bounds.high))
      if number == 0 {
        singles = bounds.singles
      } else {
        let common = zip(singles, bounds.singles).prefix { $0 == $1 }.count
        singles = Array(singles.prefix(common))
      }
      if bounds.singles.count < shape.columns.count { isWhole = false }
      if !bounds.narrows { narrows = false }
      let uncovered = alternative.indices.filter { !bounds.parts.contains($0) }
      covered.subtract(uncovered.map { alternative[$0].origin })
    }
  }

  /// A condition, and which one it was or was a part of.
  fileprivate struct Part {
    var condition: Condition
    var origin: Int
    /// Whether a number means values of its own kind alone.
    var isOfOwnKind = false
  }

  /// The most parts of an index that are read.
  private static let mostAlternatives = 256

  /// The lists of conditions of which at least one must be true.
  private static func alternatives(
    _ parts: [Condition], _ shape: IndexShape, _ entity: Entity
  ) -> [[Part]] {
    var open: [(origin: Int, alternatives: [[Part]])] = []
    var base: [Part] = []
    for (origin, part) in parts.enumerated() {
      let alternatives = part.disjuncts.flatMap { $0.alternatives(of: entity, origin) }
      if alternatives.count > 1, alternatives.count <= mostAlternatives {
        open.append((origin, alternatives))
      } else if alternatives.count == 1 {
        base += alternatives[0]
      } else {
        base.append(Part(condition: part, origin: origin))
      }
    }
    let known = base.ranges(of: entity)
    var result = [base]
    for column in shape.columns {
      if known[column.property]?.single != nil { continue }
      let place = open.firstIndex { item in
        result.count * item.alternatives.count <= mostAlternatives
          && item.alternatives.allSatisfy { $0.ranges(of: entity)[column.property] != nil }
      }
      guard let place else { break }
      let alternatives = open.remove(at: place).alternatives
      // Before the others, which may say less of the same column.
      result = result.flatMap { list in alternatives.map { $0 + list } }
      let isFixed = alternatives.allSatisfy {
        $0.ranges(of: entity)[column.property]?.single != nil
      }
      if !isFixed { break }
    }
    let rest = open.map { Part(condition: parts[$0.origin], origin: $0.origin) }
    return result.map { $0 + rest }
  }
}

/// The part of an index in which all of some conditions can be true.
private struct SingleBounds {
  var low = IndexBound(values: [], isAfter: false)
  var high = IndexBound(values: [], isAfter: true)
  /// The values of the first columns.
  var singles: [Value] = []
  var narrows = false
  /// The conditions that are true of every object there.
  var parts: Set<Int> = []

  init(_ shape: IndexShape, _ ranges: [PropertyNumber: ColumnRange]) {
    for column in shape.columns {
      guard let range = ranges[column.property] else { break }
      if range.isNil && (column.valueForNull != nil || shape.isUnique) { break }
      parts.formUnion(range.parts)
      narrows = true
      guard let single = range.single else {
        limit(range, column, behind: singles)
        return
      }
      singles.append(single)
    }
    low.values = singles
    high.values = singles
  }

  /// The values between the ends of a range, none of which is nil.
  private mutating func limit(
    _ range: ColumnRange, _ column: IndexShape.Column, behind values: [Value]
  ) {
    let (first, last) = column.isDescending ? (range.high, range.low) : (range.low, range.high)
    if let first {
      low.values = values + [SingleBounds.zero(first, isLow: !column.isDescending)]
      low.isAfter = !first.isIncluded
    } else if column.isDescending {
      // Behind no value where that comes first, and what was erased.
      low = IndexBound(values: values + [.erased], isAfter: true)
    } else if column.nullsFirst, column.valueForNull == nil {
      low = IndexBound(values: values + [.null], isAfter: true)
    } else {
      low.values = values
    }
    if let last {
      high.values = values + [SingleBounds.zero(last, isLow: column.isDescending)]
      high.isAfter = last.isIncluded
    } else if !column.isDescending {
      high = IndexBound(values: values + [.erased], isAfter: false)
    } else if !column.nullsFirst, column.valueForNull == nil {
      high = IndexBound(values: values + [.null], isAfter: false)
    } else {
      high.values = values
    }
  }

  /// The value of an end; for a zero, the one of -0.0 and 0.0 that puts both on the right side.
  private static func zero(_ end: ColumnRange.End, isLow: Bool) -> Value {
    guard case .double(let number) = end.value, number == 0 else { return end.value }
    return .double(end.isIncluded == isLow ? -0.0 : 0.0)
  }
}

extension [IndexBounds.Part] {
  /// The ranges that the parts leave, by attribute.
  fileprivate func ranges(of entity: Entity) -> [PropertyNumber: ColumnRange] {
    ColumnRange.ranges(
      map(\.condition), ofOwnKind: Set(indices.filter { self[$0].isOfOwnKind }), of: entity)
  }
}

extension Condition {
  /// Lists of conditions, one of which must be true in all parts: mostly its conjuncts. What is
  /// equal to a number in an attribute of any kind may be an int, a double and a decimal, each in
  /// its place.
  fileprivate func alternatives(of entity: Entity, _ origin: Int) -> [[IndexBounds.Part]] {
    guard case .comparison(let path, .equal, let value) = form, path.names.count == 1,
      entity.attribute(named: path.names[0])?.type == .any
    else { return [conjuncts.map { IndexBounds.Part(condition: $0, origin: origin) }] }
    let values: [Value]
    switch value {
    case .int(let number):
      values =
        [value] + (Double(exactly: number).map { [.double($0)] } ?? [])
        + [.decimal(RawDecimal(number))]
    case .double(let number):
      values =
        [value] + (Int64(exactly: number).map { [.int($0)] } ?? [])
        + (RawDecimal(exactly: number).map { [.decimal($0)] } ?? [])
    case .decimal(let number):
      values =
        [value] + (number.whole.map { [.int($0)] } ?? [])
        + (number.exactDouble.map { [.double($0)] } ?? [])
    default: values = [value]
    }
    return values.map {
      let condition = Condition.compare(path, .equal, $0)
      return [IndexBounds.Part(condition: condition, origin: origin, isOfOwnKind: true)]
    }
  }

  /// Conditions of which at least one must be true.
  fileprivate var disjuncts: [Condition] {
    switch form {
    case .any(let parts): parts.flatMap(\.disjuncts)
    case .isIn(let path, let values):
      values.map { $0.isNull ? .isNil(path) : .compare(path, .equal, $0) }
    default: [self]
    }
  }
}
