import AnnalsLog
import AnnalsModel
import AnnalsState

// What is pending in a session.

extension EditSession {
  /// Whether an id is one that a new object has until it is saved.
  package func isProvisional(_ object: ObjectReference) -> Bool {
    object.row >= draft.base.nextRow(of: object.entity)
  }

  /// Whether anything differs from the state that the draft is based on. O(what was touched) where
  /// all was taken back, else less.
  package func hasChanges() throws(AnnalsError) -> Bool {
    let draft = draft
    if !draft.violations.isEmpty { return true }
    return try AnnalsError.translating { () throws(StateFault) in
      var changes = NetChanges(from: draft.base, to: draft.reader.state)
      var batch = ChangeBatch()
      for object in draft.touched.list where try changes.append(object, to: &batch) { return true }
      return false
    }
  }

  /// The net changes, as history would have them, in the order of the first edit of each object.
  package func changes() throws(AnnalsError) -> [Change] {
    TransactionPage(
      of: try draft.netChanges(), numbered: version.head.number,
      version.glossary(reading: largeValues)
    ).changes
  }

  /// Reads what is pending, by its indexes, too. Later edits copy what it holds.
  package func pendingReader() throws(AnnalsError) -> StateReader {
    try draft.mergePendingEntries()
    return draft.reader
  }

  /// Every rule that what is pending breaks, as a commit would find it in the state that the draft
  /// is based on.
  package func violations() throws(AnnalsError) -> [ValidationViolation] {
    try draft.violations(by: rules)
  }
}
