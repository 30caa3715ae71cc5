import Annals
import AnnalsModel
import AnnalsState
import AnnalsTestSupport

// Box indexes: what is found in boxes is what looking at every object finds.

extension ModelRun {
  /// Asks each box index for boxes between values that objects have, and the naive state.
  func compareBoxes() throws {
    let state = store.snapshot().reader.state
    for entity in newest.entities {
      for index in entity.indexes where index.isBox {
        for _ in 0..<3 { try compareBox(of: index, of: entity, in: state) }
      }
    }
  }

  private func compareBox(
    of index: IndexDescription, of entity: Entity, in state: State
  ) throws {
    guard let view = try state.index(entity.number, index.number) else {
      throw Mismatch("the box index \(entity.name).\(index.name) is not there")
    }
    let objects = newest.objects(of: entity.number).map { ($0.row, newest.visible($0)) }
    let known = objects.filter { _, values in
      index.elements.allSatisfy { values[$0.property].map { !$0.isErased } ?? false }
        && index.tests.allSatisfy { test in
          guard case .int(let value)? = values[test.property] else { return false }
          return value > 0
        }
    }
    var sides: [(low: BoxSide.End?, high: BoxSide.End?)] = []
    for element in index.elements {
      func end() -> BoxSide.End? {
        guard random.chance(75), let value = known.randomElement(using: &random)?.1 else {
          return nil
        }
        return value[element.property].map { ($0, random.chance(50)) }
      }
      var side = (low: end(), high: end())
      if let low = side.low, let high = side.high, high.value.isLess(than: low.value) {
        side = (high, low)
      }
      sides.append(side)
    }
    let wanted = known.filter { _, values in
      zip(index.elements, sides).allSatisfy { element, side in
        guard let value = values[element.property] else { return false }
        let isAbove = side.low.map {
          $0.value.isLess(than: value) || $0.isIncluded && !value.isLess(than: $0.value)
        }
        let isBelow = side.high.map {
          value.isLess(than: $0.value) || $0.isIncluded && !$0.value.isLess(than: value)
        }
        return (isAbove ?? true) && (isBelow ?? true)
      }
    }
    let search = try view.search(
      sides.map { side in
        guard let found = BoxSide(from: side.low, to: side.high) else {
          throw Mismatch("no side of a box from \(side)")
        }
        return found
      })
    let found = try search.rows().sorted()
    try demand(
      found == wanted.map(\.0).sorted(),
      "the box index \(entity.name).\(index.name) finds \(found) in \(sides), not "
        + "\(wanted.map(\.0).sorted())")
    let count = try search.count()
    try demand(count == found.count, "the box index \(entity.name).\(index.name) counts \(count)")
  }
}

extension Value {
  /// Whether the value comes before another of the same attribute, a number or a date.
  fileprivate func isLess(than other: Value) -> Bool {
    switch (self, other) {
    case (.int(let one), .int(let two)): one < two
    case (.double(let one), .double(let two)): one < two
    case (.date(let one), .date(let two)): one < two
    default: false
    }
  }
}
