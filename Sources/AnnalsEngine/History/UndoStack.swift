import AnnalsModel

/// The undo and the redo stack of an author, as functions of the author's history.
///
/// Nothing else is kept, so the stacks are the same after a relaunch, in a copy, and for whichever
/// process asks. FORMAT.md, "Undo", is the definition; [decision
/// 0081](Docs/Decisions/0081-undo.md) says why it is so.
package enum UndoStack {
  /// The newest transaction of the author's history up to a number.
  package enum Newest: Hashable, Sendable {
    case entry(UndoEntry)
    /// Transactions are lost here; some may be of the author.
    case lost(LostTransactions)
    /// There is none in the history that is kept.
    case none
  }

  /// What undo or redo takes next.
  package enum Answer: Hashable, Sendable {
    case step(UndoStep)
    /// Nothing: the author has written this transaction since the last undo. For redo alone.
    case cleared(by: Int64)
    /// Unknown: transactions are lost.
    case lost(LostTransactions)
    /// Nothing, in the history that is kept.
    case none
  }

  /// What the author can undo or redo next, as of a transaction. `newest` is asked for places that
  /// only fall. O(transactions of the author back to the step), without those that were undone.
  package static func next(
    _ direction: UndoDirection, of author: String?, asOf number: Int64,
    newest: (_ number: Int64) throws(AnnalsError) -> Newest
  ) throws(AnnalsError) -> Answer {
    var place = number
    while true {
      switch try newest(place) {
      case .none: return .none
      case .lost(let lost): return .lost(lost)
      case .entry(let entry):
        switch (direction, entry.undo.act) {
        case (.undo, .undoes(let numbers)): place = numbers.lowerBound - 1
        case (.redo, .redoes(let undo)): place = undo - 1
        case (.redo, nil): return .cleared(by: entry.number)
        case (.undo, nil): return .step(try step(endingWith: entry, of: author, newest))
        case (.undo, .redoes), (.redo, .undoes): return .step(UndoStep(entry, of: author))
        }
      }
    }
  }

  /// The ordinary transaction with those of its group before it. What is pruned or lost ends a
  /// group.
  private static func step(
    endingWith entry: UndoEntry, of author: String?,
    _ newest: (_ number: Int64) throws(AnnalsError) -> Newest
  ) throws(AnnalsError) -> UndoStep {
    var step = UndoStep(entry, of: author)
    guard let group = entry.undo.group else { return step }
    while case .entry(let earlier) = try newest(step.numbers.lowerBound - 1),
      earlier.undo.act == nil, earlier.undo.group?.hasSameBytes(as: group) == true
    {
      step.add(earlier)
    }
    return step
  }
}
