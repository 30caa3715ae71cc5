import AnnalsLog
import AnnalsModel
import AnnalsState

/// The newest state of a store with drafts over it that are not committed. A value; safe on any
/// thread.
///
/// Objects that the drafts insert have rows from a range that no store reaches, so their ids stay
/// the same while others commit, and are never those of other objects.
package struct PendingState: Sendable {
  /// The newest version, with the pending state.
  package let version: StoreVersion
  /// The large values of the drafts, and those of the store.
  package let largeValues: HeldLargeValues
  /// The drafts in it, in order.
  let drafts: [UndoDraft]

  /// The first row that a pending object may have.
  package static let firstRow: Int64 = 1 << 31

  init(_ version: StoreVersion, _ largeValues: HeldLargeValues, _ drafts: [UndoDraft]) {
    self.version = version
    self.largeValues = largeValues
    self.drafts = drafts
  }

  /// The state of a version, without drafts. New objects get the next rows; with `row`, pending
  /// ones from that on. O(entities).
  ///
  /// Throws `.unsupported` for a store that has given out a pending row.
  package init(on version: StoreVersion, insertingFrom row: Int64? = nil) throws(AnnalsError) {
    largeValues = HeldLargeValues(stored: LogLargeValues(version.view))
    drafts = []
    guard let row else {
      self.version = version
      return
    }
    var state = version.state
    for entity in state.schema.entities where !entity.isRemoved {
      guard state.nextRow(of: entity.number) <= PendingState.firstRow else {
        throw AnnalsError(
          .unsupported, "\(entity.name) has had more objects than drafts can wait beside")
      }
      // The row is used up by an object that is gone at once.
      try AnnalsError.translating {
        try state.insertRow(entity.number, row: row)
        try state.deleteRow(entity.number, row)
      }
    }
    self.version = version.successor(state: state, view: version.view)
  }

  /// A row that no pending object has had, of any entity.
  package var nextRow: Int64 {
    let schema = version.state.schema
    return schema.entities.reduce(PendingState.firstRow) { row, entity in
      entity.isRemoved ? row : max(row, version.state.nextRow(of: entity.number))
    }
  }

  /// Whether an object is one of a draft that waits, or waited.
  package static func isPending(_ object: ObjectReference) -> Bool { object.row >= firstRow }

  /// Reads the state. Its indexes are brought up to date first.
  package func reader() throws(AnnalsError) -> StateReader {
    var state = version.state
    try AnnalsError.translating { try state.updateIndexes() }
    return StateReader(state: state, store: version.store, largeValues: largeValues)
  }

  /// Changes of a draft as history would have them.
  package func changes(in parts: [ChangeBatch], dated date: Timestamp) -> [Change] {
    parts.flatMap { part in
      TransactionPage(
        of: part, numbered: version.head.number, dated: date,
        version.glossary(reading: largeValues)
      ).changes
    }
  }
}

/// Where objects of drafts that wait, or waited, are: under another id since they were committed,
/// or nowhere, since the draft was dropped.
package struct ObjectMoves: Sendable {
  /// The present id of each that has another one.
  package var places: [ObjectReference: ObjectReference] = [:]
  /// Those that are not coming.
  package var gone: Set<ObjectReference> = []

  /// Every object is where it says.
  package init() {}

  package var isEmpty: Bool { places.isEmpty && gone.isEmpty }
}
