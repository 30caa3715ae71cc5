/// A result computed from one property of many objects. Ignores nil.
public struct Aggregate: Hashable, Sendable {
  /// The function to compute.
  public enum Function: String, Hashable, Sendable, CaseIterable {
    /// How many objects have a value.
    case count
    /// The sum of numbers, exact for integers and decimals; nil if there are none.
    case sum
    /// The mean of numbers, a double; of decimals a decimal, rounded to 38 digits, of two equally
    /// near ones to the one whose last digit is even. Nil if there are none.
    case average
    /// The least value in the order of sort keys; nil if there is none.
    case minimum
    /// The greatest value; nil if there is none.
    case maximum
  }

  /// The function to compute.
  public var function: Function
  /// The path of the values.
  public var path: PropertyPath

  /// Creates an aggregate over the values at this path.
  public init(_ function: Function, of path: PropertyPath) {
    self.function = function
    self.path = path
  }
}

extension Aggregate: CustomStringConvertible {
  /// `sum(price)`.
  public var description: String { "\(function.rawValue)(\(path))" }
}
