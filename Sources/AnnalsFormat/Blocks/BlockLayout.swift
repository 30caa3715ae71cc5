import AnnalsModel

/// The layout of an entity's values in its columns, by which an encoder orders the values, and from
/// which a decoder assembles the changes.
struct BlockLayout {
  /// One property in changes of some shape: its columns before and after, -1 for none.
  private struct Place {
    var property: PropertyNumber
    var before: Int32
    var after: Int32

    /// The ordinal of the property among the entity's.
    var ordinal: Int { Int(max(before, after)) / 2 }
  }

  /// The properties that changes of one shape share.
  struct Shape {
    var kind: ChangeKind
    /// The number of properties.
    var length: Int
    fileprivate var first: Int
    /// How many changes have the shape.
    fileprivate var uses = 0
  }

  private var shapes: ContiguousArray<Shape> = []
  private var places: ContiguousArray<Place> = []
  /// Where each column's values are: `2 * ordinal` has those before of each of the entity's
  /// properties, `2 * ordinal + 1` those after. Empty until `placeColumns`.
  private(set) var columns: ContiguousArray<Range<Int>>

  /// The layout of changes of these shapes, which list no property but these, rising.
  init(_ shapes: ContiguousArray<BlockShape>, _ properties: ContiguousArray<PropertyNumber>) {
    columns = ContiguousArray(repeating: 0..<0, count: properties.count * 2)
    for shape in shapes {
      let first = places.count
      var ordinal = 0
      for property in shape.properties {
        while properties[ordinal] < property { ordinal += 1 }
        let column = Int32(ordinal * 2)
        places.append(
          Place(
            property: property, before: shape.kind == .insert ? -1 : column,
            after: shape.kind == .delete ? -1 : column + 1))
      }
      self.shapes.append(
        Shape(kind: shape.kind, length: shape.properties.count, first: first))
    }
  }

  /// Counts a change of this shape.
  @discardableResult
  mutating func use(_ shape: Int) -> Shape {
    shapes[shape].uses += 1
    return shapes[shape]
  }

  /// Gives each column as much room as the changes counted need.
  mutating func placeColumns() {
    var counts = ContiguousArray<Int>(repeating: 0, count: columns.count)
    for shape in shapes {
      for place in places[shape.first..<shape.first + shape.length] {
        if place.before >= 0 { counts[Int(place.before)] += shape.uses }
        if place.after >= 0 { counts[Int(place.after)] += shape.uses }
      }
    }
    var start = 0
    for column in columns.indices {
      columns[column] = start..<start + counts[column]
      start += counts[column]
    }
  }

  /// How many values all columns have.
  var cellCount: Int { columns.last?.upperBound ?? 0 }

  /// The property changes of all columns, column after column, each in the order of the changes;
  /// `shapeOf` gives the shape of each change, `firsts` where its run begins.
  func slots(
    _ shapeOf: UnsafeMutableBufferPointer<Int64>, _ firsts: UnsafeMutableBufferPointer<UInt32>
  ) -> ContiguousArray<UInt32> {
    var next = ContiguousArray(columns.map(\.lowerBound))
    var slots = ContiguousArray<UInt32>(repeating: 0, count: cellCount)
    slots.withUnsafeMutableBufferPointer { slots in
      next.withUnsafeMutableBufferPointer { next in
        for (number, first) in zip(shapeOf, firsts) {
          let shape = shapes[Int(number)]
          var slot = first
          for place in places[shape.first..<shape.first + shape.length] {
            if place.before >= 0 { BlockLayout.put(slot, in: place.before, slots, next) }
            if place.after >= 0 { BlockLayout.put(slot, in: place.after, slots, next) }
            slot += 1
          }
        }
      }
    }
    return slots
  }

  /// Puts a slot at the next position of a column.
  @inline(__always)
  private static func put(
    _ slot: UInt32, in column: Int32, _ slots: UnsafeMutableBufferPointer<UInt32>,
    _ next: UnsafeMutableBufferPointer<Int>
  ) {
    slots[next[Int(column)]] = slot
    next[Int(column)] += 1
  }

  /// The changes that list each of some of the entity's properties, in their order, and which of
  /// them are whose, by the property's ordinal. `isWanted` gives the properties, `isLeftOut` the
  /// changes that do not matter, `shapeOf` the shape of each change, `firsts` where its run begins.
  func uses(
    of isWanted: ContiguousArray<Bool>, without isLeftOut: ContiguousArray<Bool>,
    _ shapeOf: UnsafeMutableBufferPointer<Int64>, _ firsts: some Sequence<UInt32>
  ) -> (all: ContiguousArray<KnownValues.Use>, ranges: ContiguousArray<Range<Int>>) {
    var starts = ContiguousArray<Int>(repeating: 0, count: isWanted.count + 1)
    for shape in shapes {
      for place in places[shape.first..<shape.first + shape.length] where isWanted[place.ordinal] {
        starts[place.ordinal + 1] += shape.uses
      }
    }
    for ordinal in isWanted.indices { starts[ordinal + 1] += starts[ordinal] }
    var next = starts
    var all = ContiguousArray<KnownValues.Use>(
      repeating: KnownValues.Use(change: 0, slot: 0), count: starts[isWanted.count])
    all.withUnsafeMutableBufferPointer { all in
      next.withUnsafeMutableBufferPointer { next in
        for (change, (number, first)) in zip(shapeOf, firsts).enumerated()
        where !isLeftOut[change] {
          let shape = shapes[Int(number)]
          var slot = first
          for place in places[shape.first..<shape.first + shape.length] {
            let ordinal = place.ordinal
            if isWanted[ordinal] {
              all[next[ordinal]] = KnownValues.Use(
                change: UInt32(truncatingIfNeeded: change), slot: slot)
              next[ordinal] += 1
            }
            slot += 1
          }
        }
      }
    }
    return (all, ContiguousArray(isWanted.indices.map { starts[$0]..<next[$0] }))
  }

  /// Where each change's run begins, if they follow one another from 0.
  func firsts(_ shapeOf: UnsafeMutableBufferPointer<Int64>) -> ContiguousArray<UInt32> {
    var next = 0
    return ContiguousArray(
      shapeOf.lazy.map { number in
        defer { next += shapes[Int(number)].length }
        return UInt32(truncatingIfNeeded: next)
      })
  }

  /// The kind of each change; `shapeOf` gives its shape.
  func kinds(_ shapeOf: UnsafeMutableBufferPointer<Int64>) -> ContiguousArray<ChangeKind> {
    ContiguousArray(shapeOf.lazy.map { shapes[Int($0)].kind })
  }

  /// A cell that stands for what the property change at a slot of the same run has after it.
  static func known(at slot: UInt32) -> ValueCell {
    ValueCell(tag: .null, bits: UInt64(slot), isLarge: true)
  }

  /// Assembles the changes from the values of all columns, or what stands for them (`known`);
  /// `shapeOf` gives the shape of each. Fills `run`, which may be uninitialised. Returns false if
  /// there are edits (`edits`, empty or one flag per cell) on one side only, or in a change that is
  /// not an update.
  func assemble(
    _ cells: UnsafeMutableBufferPointer<ValueCell>, edits: ContiguousArray<Bool>,
    _ shapeOf: UnsafeMutableBufferPointer<Int64>,
    into run: UnsafeMutableBufferPointer<PropertyChange>
  ) -> Bool {
    var next = ContiguousArray(columns.map(\.lowerBound))
    var isSound = true
    var slot = 0
    next.withUnsafeMutableBufferPointer { next in
      shapes.withUnsafeBufferPointer { shapes in
        places.withUnsafeBufferPointer { places in
          for number in shapeOf {
            let shape = shapes[Int(number)]
            for place in places[shape.first..<shape.first + shape.length] {
              var sides = 0
              var before = nextCell(place.before, &next, cells, edits, &sides)
              if before.isLarge, before.isNull {
                // Its slot is of an earlier change.
                before = run[Int(before.bits)].after
              }
              run.initializeElement(
                at: slot,
                to: PropertyChange(
                  property: place.property, before: before,
                  after: nextCell(place.after, &next, cells, edits, &sides)))
              if sides > 0 {
                run[slot].isEdits = true
                isSound = isSound && sides == 2
              }
              slot += 1
            }
          }
        }
      }
    }
    return isSound
  }

  /// The next value of a column, null for no column; counts it if it is a list of edits.
  @inline(__always)
  private func nextCell(
    _ column: Int32, _ next: inout UnsafeMutableBufferPointer<Int>,
    _ cells: UnsafeMutableBufferPointer<ValueCell>, _ edits: ContiguousArray<Bool>,
    _ sides: inout Int
  ) -> ValueCell {
    guard column >= 0 else { return .null }
    let position = next[Int(column)]
    next[Int(column)] = position + 1
    if !edits.isEmpty, edits[position] { sides += 1 }
    return cells[position]
  }
}
