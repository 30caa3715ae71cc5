import AnnalsLog
import AnnalsModel

/// The transactions of one author in an undo history, read backward.
///
/// Leaves out transactions without changes that undo and redo nothing, as those that define a
/// schema, and migrations. Holds one frame.
package struct AuthorHistory {
  private let version: StoreVersion
  private let author: String?
  private var cursor: PartCursor?
  /// The newest transaction up to each number from its own to `reach`.
  private var held = UndoStack.Newest.none
  private var reach: Int64 = -1
  /// What is farther away is looked for by the history index.
  private static let longestWalk: Int64 = 1_024

  /// The history of an author in a version; nil is the author of transactions without one.
  package init(of author: String?, in version: StoreVersion) {
    self.author = author
    self.version = version
  }

  /// The newest transaction up to this number; a gap if that is newer, or the number lies in one.
  /// Cheap if the numbers fall. Throws `.damaged` or `.io`.
  package mutating func newest(_ number: Int64) throws(AnnalsError) -> UndoStack.Newest {
    if number <= version.view.base { return .none }
    if let gap = version.view.gap(at: number) { return .lost(gap) }
    if number > reach || cursor == nil { try move(to: number) }
    while let place = held.number, place > number {
      if place - number > AuthorHistory.longestWalk {
        try move(to: number)
      } else {
        held = try read()
      }
    }
    return held
  }

  private mutating func move(to number: Int64) throws(AnnalsError) {
    let history = History(
      version: version, after: version.view.base, through: number,
      condition: HistoryCondition(.author(author)))
    cursor = try PartCursor(history.reversed(), withChanges: false)
    held = try read()
    reach = number
  }

  /// The next transaction of the author, or the next gap.
  private mutating func read() throws(AnnalsError) -> UndoStack.Newest {
    if let number = held.number { reach = min(reach, number - 1) }
    var count = 0
    while let part = try cursor?.next() {
      guard part.isSelected else { continue }
      let record = part.record
      if let lost = record.lost { return .lost(lost) }
      count += Int(record.changeCount)
      // Only the first part has the details; it comes last.
      guard record.part == 0 else { continue }
      let undo = part.transaction.undo
      if undo.act != nil || count > 0 && part.transaction.migrations.isEmpty {
        return .entry(
          UndoEntry(
            number: record.number, undo: undo, context: part.transaction.context,
            moment: record.timestamp))
      }
      count = 0
    }
    return .none
  }
}

extension UndoStack.Newest {
  /// The number of the transaction, or of the last that is lost; nil for none.
  fileprivate var number: Int64? {
    switch self {
    case .entry(let entry): entry.number
    case .lost(let lost): lost.last
    case .none: nil
    }
  }
}

extension String? {
  fileprivate func isSame(as other: String?) -> Bool {
    guard let self, let other else { return self == nil && other == nil }
    return self.hasSameBytes(as: other)
  }
}

extension StoreVersion {
  /// What undo or redo by this author takes next, with the author's drafts that wait, in order, as
  /// the newest transactions. Throws `.nothingToUndo`, `.pruned` if that may be in history that was
  /// pruned, `.lost` if it may be in a gap, `.unsupported` for what waits itself. Costs as
  /// `UndoStack.next`.
  func nextStep(
    _ direction: UndoDirection, of author: String?, with drafts: [UndoDraft] = []
  ) throws(AnnalsError) -> UndoStep {
    var history = AuthorHistory(of: author, in: self)
    let own = drafts.filter { $0.author.isSame(as: author) }
    let head = view.head.number
    let answer = try UndoStack.next(direction, of: author, asOf: head + Int64(own.count)) {
      (number) throws(AnnalsError) in
      if number <= head { return try history.newest(number) }
      return .entry(UndoEntry(number: number, undo: own[Int(number - head) - 1].undo))
    }
    let who = author.map { "`\($0)` has" } ?? "there is"
    var error: AnnalsError
    switch answer {
    case .step(let step) where step.numbers.upperBound > head:
      throw AnnalsError(
        .unsupported,
        "what \(who) to \(direction) is a draft that waits for the shared log; nothing was "
          + "recorded. Discard that draft, or \(direction) it once it is sent")
    case .step(let step): return step
    case .cleared(let number) where number > head:
      throw AnnalsError(
        .nothingToUndo, "\(who) nothing to \(direction): a draft that waits was written since")
    case .cleared(let number):
      throw AnnalsError(
        .nothingToUndo, "\(who) nothing to \(direction): transaction \(number) was written since")
    case .none where view.base == 0:
      throw AnnalsError(.nothingToUndo, "\(who) nothing to \(direction)")
    case .lost(let lost): error = .lost(lost.last, lost)
    case .none: error = pruned(view.base)
    }
    error.message =
      "\(who) nothing to \(direction) in the history that is known: \(error.message)"
    throw error
  }

  /// What undo or redo by this author takes, newest first: at most `limit` steps, as far as the
  /// history that is kept tells. Costs as `UndoStack.next`, for each.
  package func steps(
    _ direction: UndoDirection, of author: String?, limit: Int
  ) throws(AnnalsError) -> [UndoStep] {
    var history = AuthorHistory(of: author, in: self)
    var steps: [UndoStep] = []
    var place = view.head.number
    while steps.count < limit {
      let answer = try UndoStack.next(direction, of: author, asOf: place) {
        (number) throws(AnnalsError) in try history.newest(number)
      }
      guard case .step(let step) = answer else { break }
      steps.append(step)
      place = step.numbers.lowerBound - 1
    }
    return steps
  }
}
