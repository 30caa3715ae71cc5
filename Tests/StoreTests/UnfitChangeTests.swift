import Annals
import AnnalsLog
import AnnalsModel
import AnnalsTestSupport
import Testing

/// Changes that decode and do not fit the state before them: no state from there on, and every
/// opening that comes by them is `.damaged`. (A row beyond the limit does not decode.)
@Suite struct UnfitChangeTests {
  /// A closed store of a note (row 1), a note that is gone (row 2) and a folder with the first; and
  /// then a transaction of one change that no writer of this version would make.
  private func store(
    _ kind: ChangeKind, _ entity: EntityNumber, _ row: Int64, _ values: [PropertyValues]
  ) throws -> StoreLocation {
    let location = memoryFile()
    let store = try noteStore(location)
    let note = try store.note("n1", text: "Fog")
    let gone = try store.note("n2")
    try store.write { tx in
      try tx.delete(gone)
      try tx.insert("Folder", ["name": "f", "notes": .objects([ObjectReference(note)])])
    }
    try store.close()
    try LogFile.write(to: location.path, in: location.fileSystem) { log in
      var batch = ChangeBatch(kind, entity, row, values)
      _ = try log.append(
        TransactionEnvelope(timestamp: Timestamp(microseconds: 2_000_000_000_000_000)), &batch)
    }
    return location
  }

  @Test func theyAreDamage() throws {
    let fits = try store(.update, 1, 1, [(2, .string("Fog"), .string("Dew"))])
    #expect(try noteStore(fits).texts() == [.string("Dew")])
    let wrong: [(String, ChangeKind, EntityNumber, Int64, [PropertyValues])] = [
      ("an entity that is not defined", .insert, 9, 1, []),
      ("a property that is not defined", .update, 1, 1, [(9, .null, .int(1))]),
      ("a kind that the property does not have", .update, 1, 1, [(2, .null, .int(1))]),
      ("an insert of an object that lives", .insert, 1, 1, [(1, .null, .string("n3"))]),
      ("an update of one that does not", .update, 1, 2, [(2, .null, .string("x"))]),
      ("a delete of one that does not", .delete, 1, 2, []),
      ("a delete of one that never did", .delete, 1, 7, []),
    ]
    for (what, kind, entity, row, properties) in wrong {
      let location = try store(kind, entity, row, properties)
      for options in [StoreOptions(), .readOnly] {
        let error = #expect(throws: AnnalsError.self) {
          _ = try Store(location, options: options)
        }
        #expect(error?.code == .damaged, "\(what): \(String(describing: error))")
      }
      var options = StoreOptions.readOnly
      options.readsUpToDamage = true
      let readable = try? Store(location, options: options)
      #expect(readable == nil || readable?.token.number == 4, "\(what)")
    }
  }
}
