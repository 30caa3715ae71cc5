/// A number or a value made of one property of many objects. nil counts for none of them.
public struct Aggregate: Hashable, Sendable {
  /// What can be made of values.
  public enum Function: String, Hashable, Sendable, CaseIterable {
    /// How many objects have a value.
    case count
    /// The sum of numbers: whole of whole ones; nil of none.
    case sum
    /// The mean of numbers, a double; nil of none.
    case average
    /// The least value in the order of sort keys; nil of none.
    case minimum
    /// The greatest value; nil of none.
    case maximum
  }

  /// What is made of the values.
  public var function: Function
  /// Where the values are.
  public var path: PropertyPath

  /// The function of the values at this path.
  public init(_ function: Function, of path: PropertyPath) {
    self.function = function
    self.path = path
  }
}

extension Aggregate: CustomStringConvertible {
  /// `sum(price)`.
  public var description: String { "\(function.rawValue)(\(path))" }
}
