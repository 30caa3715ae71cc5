import AnnalsModel

/// What one undo, or one redo, takes: a transaction of an author, or a group of them.
public struct UndoStep: Hashable, Sendable {
  /// The numbers of the first and of the last of the author's transactions in it. Those of other
  /// authors in between have no part in it.
  public internal(set) var numbers: ClosedRange<Int64>
  /// How many transactions of the author it has: 1, or those of the group.
  public internal(set) var count: Int
  /// The author; nil for transactions without one.
  public let author: String?
  /// The name of the group; that of what was undone, for a redo. Nil for none.
  public let group: String?
  /// The context of the newest transaction.
  public let context: String?
  /// Whether its transaction redoes what was undone before, or, as a step to redo, undoes it.
  package let act: UndoRecord.Act?
  /// The timestamp of the newest transaction.
  package let moment: Timestamp

  /// The step of one transaction.
  init(_ entry: UndoEntry, of author: String?) {
    numbers = entry.number...entry.number
    count = 1
    self.author = author
    (group, context, act, moment) = (entry.undo.group, entry.context, entry.undo.act, entry.moment)
  }

  /// Adds the author's transaction before the first, which is of the same group.
  mutating func add(_ entry: UndoEntry) {
    numbers = entry.number...numbers.upperBound
    count += 1
  }
}

extension UndoStep: CustomStringConvertible {
  /// `transaction 17`, or `drag, 3 transactions from 3 to 9`.
  public var description: String {
    guard count > 1 else { return "transaction \(numbers.lowerBound)" }
    return "\(group ?? "a group"), \(count) transactions from \(numbers.lowerBound) to "
      + "\(numbers.upperBound)"
  }
}

/// One of the two directions in an author's undo history.
package enum UndoDirection: Hashable, Sendable {
  case undo, redo

  /// What a transaction records that takes this step.
  package func record(of step: UndoStep) -> UndoRecord {
    UndoRecord(
      group: step.group,
      act: self == .undo ? .undoes(step.numbers) : .redoes(step.numbers.lowerBound))
  }
}

/// A draft that waits, in its author's undo history.
struct UndoDraft: Sendable {
  let author: String?
  let undo: UndoRecord
}

/// A transaction in an author's undo history.
package struct UndoEntry: Hashable, Sendable {
  package var number: Int64
  package var undo: UndoRecord
  package var context: String?
  package var moment: Timestamp

  package init(
    number: Int64, undo: UndoRecord, context: String? = nil,
    moment: Timestamp = Timestamp(microseconds: 0)
  ) {
    self.number = number
    self.undo = undo
    self.context = context
    self.moment = moment
  }
}
