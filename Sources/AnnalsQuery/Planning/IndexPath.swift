import AnnalsModel
import AnnalsState

/// How an index serves a query: which of its places to read, in which direction, and what remains
/// to be done with the rows.
struct IndexPath: Sendable {
  /// How the places relate to the wanted order.
  enum Order: Sendable {
    case forward
    case backward
    /// Not at all: the rows are sorted.
    case none
  }

  /// The search of an index whose entries are not in the order of their values.
  struct Search: Sendable {
    /// How many objects are found.
    let count: @Sendable () throws(StateFault) -> Int
    /// The rows that are found, in their order.
    let rows: @Sendable () throws(StateFault) -> [Int64]
  }

  /// What an index finds instead of the rows themselves: objects that lead to them.
  struct Related: Sendable {
    /// The relationship or inverse that leads to the objects.
    let path: PropertyPath
    /// How many objects of their entity there are.
    let count: Int
  }

  let name: String
  let view: IndexView
  /// The objects that the index finds, where these lead to the rows.
  let related: Related?
  /// Ranges of places, rising and not adjacent.
  let places: [Range<Int>]
  /// The search of an index that gives no order, in place of `places`.
  let search: Search?
  /// The number of places, or of entries that the search looks at.
  let count: Int
  let order: Order
  /// Whether rows with equal values come in the opposite order of the index.
  let reversesTies: Bool
  /// The condition that remains to be tested on each object.
  let rest: Condition
  /// The values of the first columns, as far as the condition leaves one.
  let singles: [Value]

  /// Nil if the index cannot help the query: it neither narrows it nor has its order, nor keeps
  /// objects with the same value of `groupedBy` consecutive. `implied` is met wherever the query's
  /// condition is.
  init?(
    _ query: RowQuery, _ shape: IndexShape, name: String, of entity: Entity, in state: State,
    implied: [Condition] = [], groupedBy: PropertyNumber? = nil
  ) throws(StateFault) {
    let parts = query.condition.conjuncts
    guard let covered = shape.covered(parts, of: entity) else { return nil }
    let bounds = IndexBounds(parts + implied, shape, of: entity)
    if shape.isUnique, !bounds.isWhole { return nil }
    let (order, reversesTies) = IndexPath.order(query, shape, bounds, entity)
    let isGrouped =
      bounds.singles.count < shape.columns.count && bounds.ends.count == 1
      && shape.columns[bounds.singles.count].property == groupedBy
    let narrows = bounds.narrows || !shape.tests.isEmpty
    guard groupedBy == nil ? order != .none || narrows : isGrouped,
      let view = try state.index(query.entity, shape.number),
      // A past state has the indexes of the present, where another default may hold.
      view.shape == shape,
      // Objects with a value that the state does not hold have no place in the order.
      try view.orderedCount() == view.count
    else { return nil }
    places = try IndexPath.places(bounds, in: view)
    search = nil
    related = nil
    count = places.reduce(0) { $0 + $1.count }
    self.name = name
    self.view = view
    self.order = order
    self.reversesTies = reversesTies
    singles = bounds.singles
    let all = bounds.covered.union(covered)
    let left = parts.indices.filter { !all.contains($0) }.map { parts[$0] }
    rest = left.isEmpty ? .always : .all(left)
  }

  /// An index that gives no order: a search of it, which looks at `count` entries, and what of the
  /// condition is left.
  init(
    _ search: Search, count: Int, name: String, _ view: IndexView, rest: [Condition],
    related: Related? = nil
  ) {
    self.search = search
    self.related = related
    self.count = count
    self.name = name
    self.view = view
    self.rest = rest.isEmpty ? .always : .all(rest)
    places = []
    order = .none
    reversesTies = false
    singles = []
  }

  /// The cost of using it, in objects read; includes sorting if it does not give the order.
  func cost(_ query: RowQuery) -> Double {
    var read = Double(count)
    if related != nil {
      // Each object that is found, its reference and its owner are read.
      return 40 + 6 * read + RowQuery.sortingCost(read, query)
    }
    if search != nil {
      // No value is read of what is looked at.
      return 40 + (rest == .always ? read : 5 * read) + RowQuery.sortingCost(read, query)
    }
    if order != .none, let most = query.most {
      // Without other conditions the objects passed over are not read.
      read = min(
        read, Double(rest == .always ? query.limit ?? 0 : most) * (rest == .always ? 1 : 8))
    }
    return 20 * Double(max(1, places.count)) + 4 * read
      + (order == .none ? RowQuery.sortingCost(read, query) : 0)
  }

  private static func places(
    _ bounds: IndexBounds, in view: IndexView
  ) throws(StateFault) -> [Range<Int>] {
    var found: [Range<Int>] = []
    for (low, high) in bounds.ends {
      let start = try view.place(of: low)
      let end = try view.place(of: high)
      if start < end { found.append(start..<end) }
    }
    found.sort { $0.lowerBound < $1.lowerBound }
    var result: [Range<Int>] = []
    for range in found {
      if let last = result.last, range.lowerBound <= last.upperBound {
        let end = max(last.upperBound, range.upperBound)
        result[result.count - 1] = last.lowerBound..<end
      } else {
        result.append(range)
      }
    }
    return result
  }

  /// How the order that is wanted stands to that of the index, once the columns with a single value
  /// are left out of both.
  private static func order(
    _ query: RowQuery, _ shape: IndexShape, _ bounds: IndexBounds, _ entity: Entity
  ) -> (Order, reversesTies: Bool) {
    let columns = shape.columns.dropFirst(bounds.singles.count)
    let fixed = Set(shape.columns.prefix(bounds.singles.count).map(\.property))
    var keys: [(property: PropertyNumber, key: SortKey)] = []
    for key in query.keys {
      guard key.path.names.count == 1, key.path.replacement == nil, key.textOrder == .binary,
        key.order.isEmpty, let attribute = entity.attribute(named: key.path.names[0]),
        attribute.type != .any
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
