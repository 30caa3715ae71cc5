import AnnalsModel

/// Assigns the property changes of a batch to an entity's columns: for each property one column of
/// before-images and one of after-images.
struct BlockColumns {
  /// The entity's properties, rising. Column `2 * ordinal` has the before-images of each, column `2
  /// * ordinal + 1` the after-images.
  let properties: ContiguousArray<PropertyNumber>
  private var starts: ContiguousArray<Int>
  private var slots: ContiguousArray<UInt32>

  /// One value that a change of some shape has: its column, and where in the change's run.
  private struct Place {
    var column: Int
    var position: UInt32
  }

  /// The columns of changes whose shapes are `shapeOf` and whose runs begin at `firsts`. The shapes
  /// list no property but these.
  init(
    shapes: ContiguousArray<BlockShape>, shapeOf: UnsafeMutableBufferPointer<Int64>,
    firsts: UnsafeMutableBufferPointer<UInt32>, properties: ContiguousArray<PropertyNumber>
  ) {
    self.properties = properties
    var places: ContiguousArray<Place> = []
    var ends: ContiguousArray<Int> = [0]
    for shape in shapes {
      BlockColumns.append(shape, properties, to: &places)
      ends.append(places.count)
    }
    var uses = ContiguousArray<Int>(repeating: 0, count: shapes.count)
    for shape in shapeOf { uses[Int(shape)] += 1 }
    starts = ContiguousArray(repeating: 0, count: properties.count * 2 + 1)
    for shape in shapes.indices {
      for place in places[ends[shape]..<ends[shape + 1]] {
        starts[place.column + 1] += uses[shape]
      }
    }
    for column in starts.indices.dropFirst() { starts[column] += starts[column - 1] }
    slots = ContiguousArray(repeating: 0, count: starts[starts.count - 1])
    var next = starts
    slots.withUnsafeMutableBufferPointer { slots in
      for (shape, first) in zip(shapeOf, firsts) {
        for index in ends[Int(shape)]..<ends[Int(shape) + 1] {
          let place = places[index]
          slots[next[place.column]] = first + place.position
          next[place.column] += 1
        }
      }
    }
  }

  private static func append(
    _ shape: BlockShape, _ properties: ContiguousArray<PropertyNumber>,
    to places: inout ContiguousArray<Place>
  ) {
    var ordinal = 0
    for (position, property) in shape.properties.enumerated() {
      while properties[ordinal] < property { ordinal += 1 }
      if shape.kind != .insert {
        places.append(Place(column: ordinal * 2, position: UInt32(position)))
      }
      if shape.kind != .delete {
        places.append(Place(column: ordinal * 2 + 1, position: UInt32(position)))
      }
    }
  }

  /// Every column.
  var indices: Range<Int> { 0..<properties.count * 2 }

  /// The property changes of a column, in the order of the changes.
  func slots(of column: Int) -> ArraySlice<UInt32> {
    slots[starts[column]..<starts[column + 1]]
  }

  /// How many values a column has.
  func count(of column: Int) -> Int { starts[column + 1] - starts[column] }
}
