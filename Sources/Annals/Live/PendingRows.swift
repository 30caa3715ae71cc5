import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import AnnalsState

/// The rows of a fetch in what is pending in an editing context.
final class PendingRows {
  private let context: EditingContext
  private var source: LiveSource
  /// The rows as of the last step that did not fail.
  private(set) var rows: RowListContent
  /// What the steps that have failed since would have shown.
  private var missed: EditingContext.EditedObjects?

  /// Reads the rows. O(n log n).
  init(_ source: LiveSource, in context: EditingContext) throws(AnnalsError) {
    self.context = context
    self.source = source
    rows = try source.rows(in: try context.pendingSnapshot())
  }

  /// Advances to what is pending after a change; returns the difference. If it throws, the rows are
  /// as before, and the next step shows this change, too.
  func step(_ change: EditingContext.EditedObjects) throws(AnnalsError) -> ListDiff {
    var change = change
    if let missed {
      change = EditingContext.EditedObjects(
        objects: Array(Set(missed.objects).union(change.objects)), version: missed.version)
    }
    missed = change
    let snapshot = try context.pendingSnapshot()
    let diff = try source.step(&rows, to: snapshot, try changes(change, to: snapshot))
    missed = nil
    return diff
  }

  /// What differs between the rows' state and another, if it is among what a change has touched.
  private func changes(
    _ change: EditingContext.EditedObjects, to snapshot: Snapshot
  ) throws(AnnalsError) -> ListChanges {
    var changes = ListChanges()
    for object in change.objects { changes.append(ListChange(object, PropertySet())) }
    let version = context.session.version
    if version !== change.version {
      let others = try version.changes(
        from: change.version.snapshot, to: version.snapshot, of: rows.list.entities)
      for element in others.elements { changes.append(element) }
    }
    changes.merge()
    var old = rows.snapshot.reader.state
    // What the earlier schema does not define yet is empty in its state, not missing.
    if old.schema != snapshot.schema { old.setSchema(snapshot.schema) }
    let before = old
    return try AnnalsError.translating {
      try changes.net(from: before, to: snapshot.reader.state)
    }
  }

  /// Replaces the fetch; returns the difference from its rows to the new ones.
  func change(to source: LiveSource) throws(AnnalsError) -> ListDiff {
    let snapshot = try context.pendingSnapshot()
    var changes = ListChanges()
    if let missed { changes = try self.changes(missed, to: snapshot) }
    let diff = try source.rebuild(&rows, to: snapshot, changes)
    self.source = source
    missed = nil
    return diff
  }
}
