import Annals
import AnnalsModel
import Testing

private struct Place: Record {
  var name: String
  static let entity = RecordEntity("Place", Place.init, Property("name", \.name).unique())
}

/// An object of another store: one error, wherever it is given. Some calls said that there was no
/// such object, some threw one error and some another.
@Suite struct ForeignObjectTests {
  private func store(_ seed: UInt64) throws -> (Store, Object<Place>) {
    let store = try Store(.memory, records: Place.self, environment: .fixed(seed: seed))
    return (store, try store.write { try $0.insert(Place(name: "Kyoto")) })
  }

  private func expectForeign(_ what: String, _ body: () throws -> Void) {
    let error = #expect(throws: AnnalsError.self, "\(what)") { try body() }
    #expect(error?.code == .otherStore, "\(what): \(String(describing: error))")
  }

  @Test func everyCallThrowsTheSame() throws {
    let (store, own) = try store(1)
    let foreign = try self.store(2).1
    let id = foreign.id
    #expect(id != own.id && id.row == own.id.row)
    let snapshot = store.snapshot()
    expectForeign("object") { _ = try snapshot.object(id) }
    expectForeign("record") { _ = try snapshot.object(Place.self, id) }
    expectForeign("reference") { _ = try snapshot[Reference<Place>(id)] }
    expectForeign("is erased") { _ = try snapshot.isErased(\Place.name, of: id) }
    expectForeign("history") { _ = try store.history(of: id) }
    expectForeign("condition") {
      _ = try store.history(where: .author == "x" || !.touches([own.id, id]))
    }
    expectForeign("changes") { _ = try store.changes(where: .touches(id)) }
    expectForeign("blame") { _ = try store.blame(id) }
    expectForeign("erase") { _ = try store.erase(id, reason: "x") }
    expectForeign("row list") { _ = try snapshot.rows(Fetch(Place.self)).position(of: id) }
    expectForeign("resync") { _ = try store.resync(after: store.base).contains(id) }
    try store.write { tx in
      expectForeign("read in a write") { _ = try tx.object(id) }
      expectForeign("record in a write") { _ = try tx.object(Place.self, id) }
      expectForeign("update") { try tx.update(foreign) { $0.name = "x" } }
      expectForeign("update by name") { try tx.update(id, ["name": "x"]) }
      expectForeign("set") { try tx.set(\.name, of: foreign, to: "x") }
      expectForeign("save") { try tx.save(foreign) }
      expectForeign("delete") { try tx.delete(foreign) }
    }
    #expect(store.token.number == 2)
    #expect(try snapshot.object(own.id) != nil && store.history(of: own.id).count() == 1)
  }
}
