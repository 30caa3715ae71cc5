import AnnalsModel
import AnnalsState

// A box index serves a condition that leaves a range of two of its columns or more.

extension IndexPath {
  /// Nil if the condition leaves a range of fewer than two columns, or may be true of objects that
  /// the index lacks.
  init?(
    box query: RowQuery, _ shape: IndexShape, name: String, of entity: Entity, in state: State,
    implied: [Condition]
  ) throws(StateFault) {
    let parts = query.condition.conjuncts
    guard var covered = shape.covered(parts, of: entity) else { return nil }
    let ranges = ColumnRange.ranges(parts + implied, of: entity)
    var sides: [BoxSide] = []
    var narrowed = 0
    for column in shape.columns {
      guard let range = ranges[column.property] else {
        sides.append(.all)
        continue
      }
      guard !range.isNil,
        let side = BoxSide(
          from: range.low.map { ($0.value, $0.isIncluded) },
          to: range.high.map { ($0.value, $0.isIncluded) })
      else { return nil }
      sides.append(side)
      covered.formUnion(range.parts)
      narrowed += 1
    }
    guard narrowed >= 2, let view = try state.index(query.entity, shape.number),
      // As for ordered indexes.
      view.shape == shape
    else { return nil }
    // An object without a value that the condition says nothing about is not in the index.
    if narrowed < sides.count {
      guard shape.tests.isEmpty, view.count == Int(state.count(of: query.entity)) else {
        return nil
      }
    }
    let search = try view.search(sides)
    self.init(
      Search(
        count: { () throws(StateFault) in try search.count() },
        rows: { () throws(StateFault) in try search.rows() }),
      count: search.most, name: name, view,
      rest: parts.indices.filter { !covered.contains($0) }.map { parts[$0] })
  }
}
