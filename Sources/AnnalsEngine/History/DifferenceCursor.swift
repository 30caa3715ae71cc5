import AnnalsLog
import AnnalsModel
import AnnalsState

/// Compares the objects in which two states may differ, and returns the differences in pages of
/// about a megabyte. Holds one group of rows of a checkpoint at a time.
struct DifferenceCursor {
  let start: Int64
  let end: Int64
  private(set) var old: State
  private(set) var new: State
  private let glossary: Glossary
  private var touched: [ObjectReference]
  private var place = 0
  private var changes: NetChanges
  /// Of an object that was deleted, the one that has its key now.
  private var successors: [ObjectReference: ObjectReference] = [:]

  /// The bytes of values, and the changes, that fill a page.
  private static let pageBytes = 1 << 20
  private static let pageChanges = 4_096

  /// Compares the wanted ones among the objects that were touched between two positions. With
  /// `followsKeys`, the change of an object that was deleted is followed by that of its successor,
  /// the one that was inserted under the same key.
  init(
    _ version: StoreVersion, from start: Int64, to end: Int64,
    of isWanted: (ObjectReference) -> Bool = { _ in true }, followsKeys: Bool = false
  ) throws(AnnalsError) {
    self.start = start
    self.end = end
    touched = try History(
      version: version, after: min(start, end), through: max(start, end), condition: .always
    ).objectIDs().map { ObjectReference($0) }.filter(isWanted).sorted()
    let naming = NamingProperties(version.view, andAllOf: Set(touched))
    let states = try version.states(at: min(start, end), and: max(start, end), keeping: naming)
    (old, new) = start < end ? states : (states.1, states.0)
    // What the earlier schema does not define yet is empty in its state, not missing.
    let schema = version.view.schema(at: max(start, end))
    if start < end { old.setSchema(schema) } else { new.setSchema(schema) }
    changes = NetChanges(from: old, to: new, isPassing: true)
    glossary = version.glossary()
    if followsKeys { try findSuccessors(version.reader(of: old), version.reader(of: new)) }
  }

  /// Whether the change of an object is followed by that of its successor.
  func hasSuccessor(_ object: ObjectReference) -> Bool { successors[object] != nil }

  /// Finds them among the touched objects, and takes them out of these. O(touched).
  private mutating func findSuccessors(
    _ old: StateReader, _ new: StateReader
  ) throws(AnnalsError) {
    var start = 0
    while start < touched.count {
      let entity = touched[start].entity
      let run = touched[start...].prefix { $0.entity == entity }
      start = run.endIndex
      var deleted: [Value: ObjectReference] = [:]
      var inserted: [ObjectReference] = []
      for object in run {
        let (was, isThere) = (try old.exists(object), try new.exists(object))
        if isThere, !was { inserted.append(object) }
        guard was, !isThere else { continue }
        let key = try old.key(of: object)
        if !key.isNull { deleted[key] = object }
      }
      if deleted.isEmpty { continue }
      for object in inserted {
        if let first = try deleted[new.key(of: object)] { successors[first] = object }
      }
    }
    guard !successors.isEmpty else { return }
    let taken = Set(successors.values)
    touched.removeAll { taken.contains($0) }
  }

  /// The next page; nil after the last. No page is empty.
  mutating func next() throws(AnnalsError) -> TransactionPage? {
    var batch = ChangeBatch()
    try AnnalsError.translating {
      while place < touched.count, batch.arena.count < DifferenceCursor.pageBytes,
        batch.changes.count < DifferenceCursor.pageChanges
      {
        let object = touched[place]
        place += 1
        _ = try changes.append(object, to: &batch)
        guard let successor = successors[object] else { continue }
        _ = try changes.append(successor, to: &batch)
      }
    }
    guard !batch.changes.isEmpty else { return nil }
    return TransactionPage(of: batch, numbered: max(start, end), glossary)
  }
}
