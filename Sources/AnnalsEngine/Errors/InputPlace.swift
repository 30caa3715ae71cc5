/// A place in a text that was read in.
public struct InputPlace: Hashable, Sendable {
  /// The line, from 1.
  public let line: Int
  /// The byte within the line, from 1, at which reading stopped: what is wrong is there or just
  /// before. Nil if the line can be read, but not recorded.
  public let column: Int?

  /// The place in this line.
  package init(line: Int, column: Int?) {
    self.line = line
    self.column = column
  }
}

extension InputPlace: CustomStringConvertible {
  /// `3:17`, or `3` without a column.
  public var description: String { column.map { "\(line):\($0)" } ?? "\(line)" }
}
