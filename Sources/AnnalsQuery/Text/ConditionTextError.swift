/// Why a text is not a condition, and where.
package struct ConditionTextError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The position of the first wrong character, from 1, in Unicode scalars.
  package let column: Int
  /// What is wrong, or what was expected.
  package let reason: String

  /// The column and the reason.
  package var description: String { "column \(column): \(reason)" }
}
