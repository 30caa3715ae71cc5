import AnnalsEngine
import AnnalsLog
import AnnalsModel

extension StoreVersion {
  /// The state as a snapshot.
  package var snapshot: Snapshot {
    precondition(holdsValues, "the store was opened without the values of the newest state")
    return Snapshot(reader: reader(of: state), position: position, bindings: records)
  }

  /// The snapshot just after the transaction with this number. With `objects`, only keys,
  /// relationships and the values of these objects are reliable.
  package func snapshot(
    at number: Int64, withOnly objects: Set<ObjectReference>? = nil
  ) throws(AnnalsError) -> Snapshot {
    if holdsValues, number == view.head.number { return snapshot }
    let reader = try reader(at: number, withOnly: objects)
    let position = try AnnalsError.translating { try view.position(of: number) }
    return Snapshot(reader: reader, position: position, bindings: records)
  }

  /// The snapshot just after the transaction with this number, made from one of the same history if
  /// that is near.
  package func snapshot(
    at number: Int64, near known: Snapshot?
  ) throws(AnnalsError) -> Snapshot {
    guard let known, number != view.head.number else { return try snapshot(at: number) }
    let state = try state(at: number, near: known.reader.state, asOf: known.number)
    let position = try AnnalsError.translating { try view.position(of: number) }
    return Snapshot(reader: reader(of: state), position: position, bindings: records)
  }
}
