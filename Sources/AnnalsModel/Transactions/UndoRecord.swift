/// The place of a transaction in its author's undo history: the group that it belongs to, and what
/// it undoes or redoes.
package struct UndoRecord: Hashable, Sendable {
  /// What a transaction does to earlier ones of its author.
  package enum Act: Hashable, Sendable {
    /// It undoes the author's transactions in this range: one, or a group.
    case undoes(ClosedRange<Int64>)
    /// It redoes what this transaction has undone.
    case redoes(Int64)

    /// The transactions that it names.
    package var numbers: ClosedRange<Int64> {
      switch self {
      case .undoes(let numbers): numbers
      case .redoes(let number): number...number
      }
    }
  }

  /// The name of the group; that of what is undone or redone if the transaction does that.
  package var group: String?
  package var act: Act?

  /// The numbers in words: `17`, or `3...5` of a group.
  package static func text(of numbers: ClosedRange<Int64>) -> String {
    numbers.count == 1 ? "\(numbers.lowerBound)" : "\(numbers)"
  }

  /// The longest name of a group, in bytes.
  package static let longestGroup = 255

  package init(group: String? = nil, act: Act? = nil) {
    self.group = group
    self.act = act
  }

  /// Whether it says nothing.
  package var isEmpty: Bool { group == nil && act == nil }
}
