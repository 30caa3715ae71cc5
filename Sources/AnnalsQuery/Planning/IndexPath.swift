import AnnalsModel
import AnnalsState

/// How an index serves a query: which of its places are read, in which direction, and what is left
/// to do with the rows there.
struct IndexPath: Sendable {
  /// How the places give the order that is wanted.
  enum Order: Sendable {
    case forward
    case backward
    /// They do not: the rows are sorted.
    case none
  }

  let name: String
  let view: IndexView
  let places: Range<Int>
  let order: Order
  /// Whether rows with the same values come the other way round than in the index.
  let reversesTies: Bool
  /// What is still to be asked of each object.
  let rest: Condition
  /// The values of the first columns, as far as the condition leaves one.
  let singles: [Value]

  /// Nil if the index says nothing about the query: it neither narrows it nor is in its order, nor
  /// has objects with the same value of `groupedBy` behind one another.
  init?(
    _ query: RowQuery, _ shape: IndexShape, name: String, of entity: Entity, in state: State,
    groupedBy: PropertyNumber? = nil
  ) throws(StateFault) {
    let parts = query.condition.conjuncts
    guard let covered = shape.covered(parts, of: entity) else { return nil }
    let ranges = ColumnRange.ranges(parts, of: entity)
    let bounds = Bounds(shape, ranges)
    if shape.isUnique, !bounds.isWhole { return nil }
    let (order, reversesTies) = IndexPath.order(query, shape, bounds, entity)
    let isGrouped =
      bounds.singles < shape.columns.count
      && shape.columns[bounds.singles].property == groupedBy
    let narrows = !bounds.parts.isEmpty || !covered.isEmpty
    guard groupedBy == nil ? order != .none || narrows : isGrouped,
      let view = try state.index(query.entity, shape.number),
      // A past state has the indexes of the present, where another default may hold.
      view.shape == shape,
      // Objects with a value that the state does not hold have no place in the order.
      try view.orderedCount() == view.count
    else { return nil }
    let low = try view.place(of: bounds.low)
    places = low..<max(low, try view.place(of: bounds.high))
    self.name = name
    self.view = view
    self.order = order
    self.reversesTies = reversesTies
    singles = Array(bounds.low.values.prefix(bounds.singles))
    let said = bounds.parts.union(covered)
    let left = parts.indices.filter { !said.contains($0) }.map { parts[$0] }
    rest = left.isEmpty ? .always : .all(left)
  }

  /// What it costs to use it, in objects read; `found` of them are put in order where it does not.
  func cost(_ query: RowQuery) -> Double {
    var read = Double(places.count)
    if order != .none, let most = query.most {
      // Without other conditions the objects passed over are not read.
      read = min(
        read, Double(rest == .always ? query.limit ?? 0 : most) * (rest == .always ? 1 : 8))
    }
    return 20 + 4 * read + (order == .none ? RowQuery.sortingCost(read, query) : 0)
  }

  /// How the order that is wanted stands to that of the index, once the columns with a single value
  /// are left out of both.
  private static func order(
    _ query: RowQuery, _ shape: IndexShape, _ bounds: Bounds, _ entity: Entity
  ) -> (Order, reversesTies: Bool) {
    let columns = shape.columns.dropFirst(bounds.singles)
    let fixed = Set(shape.columns.prefix(bounds.singles).map(\.property))
    var keys: [(property: PropertyNumber, key: SortKey)] = []
    for key in query.keys {
      guard key.path.names.count == 1, key.textOrder == .binary,
        let attribute = entity.attribute(named: key.path.names[0]), attribute.type != .any
      else { return (.none, false) }
      if !fixed.contains(attribute.number) { keys.append((attribute.number, key)) }
    }
    guard keys.count == columns.count, zip(keys, columns).allSatisfy({ $0.property == $1.property })
    else { return (.none, false) }
    func fits(isBackward: Bool) -> Bool {
      zip(keys, columns).allSatisfy { key, column in
        let nilsFit =
          (column.nullsFirst != isBackward) == key.key.areNilsFirst
          || entity.attribute(numbered: column.property)?.isOptional == false
        return (column.isDescending != isBackward) == key.key.isDescending && nilsFit
      }
    }
    // Rows rise within the same values.
    if keys.isEmpty { return (query.areTiesDescending ? .backward : .forward, false) }
    if fits(isBackward: false) { return (.forward, query.areTiesDescending) }
    if fits(isBackward: true) { return (.backward, !query.areTiesDescending) }
    return (.none, false)
  }
}

/// The part of an index in which a condition can be true.
private struct Bounds {
  var low: IndexBound
  var high: IndexBound
  /// How many columns have a single value there.
  var singles = 0
  /// Whether all columns have.
  var isWhole = false
  /// The parts of the condition that are true of every object there.
  var parts: Set<Int> = []

  init(_ shape: IndexShape, _ ranges: [PropertyNumber: ColumnRange]) {
    var values: [Value] = []
    low = IndexBound(values: [], isAfter: false)
    high = IndexBound(values: [], isAfter: true)
    for column in shape.columns {
      guard let range = ranges[column.property] else { break }
      if range.isNil && (column.valueForNull != nil || shape.isUnique) { break }
      parts.formUnion(range.parts)
      guard let single = range.single else {
        limit(range, column, behind: values)
        return
      }
      values.append(single)
      singles += 1
    }
    isWhole = singles == shape.columns.count
    low.values = values
    high.values = values
  }

  /// The values between the ends of a range, none of which is nil.
  private mutating func limit(
    _ range: ColumnRange, _ column: IndexShape.Column, behind values: [Value]
  ) {
    let (first, last) = column.isDescending ? (range.high, range.low) : (range.low, range.high)
    if let first {
      low.values = values + [Bounds.zero(first, isLow: !column.isDescending)]
      low.isAfter = !first.isIncluded
    } else if column.nullsFirst, column.valueForNull == nil {
      low = IndexBound(values: values + [.null], isAfter: true)
    } else {
      low.values = values
    }
    if let last {
      high.values = values + [Bounds.zero(last, isLow: column.isDescending)]
      high.isAfter = last.isIncluded
    } else if !column.nullsFirst, column.valueForNull == nil {
      high = IndexBound(values: values + [.null], isAfter: false)
    } else {
      high.values = values
    }
  }

  /// The key next to which an end is: of the two zeros the one that lies further out if it is
  /// included, else further in.
  private static func zero(_ end: ColumnRange.End, isLow: Bool) -> Value {
    guard case .double(let number) = end.value, number == 0 else { return end.value }
    return .double(end.isIncluded == isLow ? -0.0 : 0.0)
  }
}
