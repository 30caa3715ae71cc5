// Paths with a function of several objects: `events.@count`, `events.@max.start`.

extension Aggregate.Function {
  /// The name on a path: `@count`, `@sum`, `@avg`, `@min`, `@max`.
  package var pathName: String {
    switch self {
    case .count: "@count"
    case .sum: "@sum"
    case .average: "@avg"
    case .minimum: "@min"
    case .maximum: "@max"
    }
  }

  /// The function with this name on a path.
  package init?(pathName name: String) {
    guard name.utf8.first == UInt8(ascii: "@"),
      let function = Aggregate.Function.allCases.first(where: {
        $0.pathName.hasSameBytes(as: name)
      })
    else { return nil }
    self = function
  }
}

extension PropertyPath {
  /// The path of one value of all objects that a to-many relationship or an inverse leads to:
  /// `.of(.maximum, "start", over: "events")` is the greatest `start`, and
  /// `.of(.count, over: "events")` how many there are.
  ///
  /// An object counts as often as it is listed, a deleted one does not. `count` takes no values,
  /// the others those at `values`, a path from each object, without null. The sum of none is 0; the
  /// least, the greatest and the average of none are null. Sums and averages are of numbers, the
  /// least and the greatest of numbers, dates and days.
  public static func of(
    _ function: Aggregate.Function, _ values: PropertyPath = [], over path: PropertyPath
  ) -> PropertyPath {
    let behind = function == .count ? [] : values.names
    return PropertyPath(path.names + [function.pathName] + behind).replacing(values.replacement)
  }

  /// Whether the name at this place may be that of a function: `@count` at the end, or another one
  /// that a name follows.
  package func isFunction(at place: Int) -> Bool {
    guard place > 0, let function = Aggregate.Function(pathName: names[place]) else { return false }
    return (function == .count) == (place == names.count - 1)
  }

  /// The place of the first function; nil if there is none.
  package var functionPlace: Int? { names.indices.first { isFunction(at: $0) } }

  /// The function whose value it is; nil if the value is one of a single object.
  package var function: Aggregate.Function? {
    functionPlace.flatMap { Aggregate.Function(pathName: names[$0]) }
  }
}
