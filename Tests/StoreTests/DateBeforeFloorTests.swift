import Annals
import AnnalsModel
import AnnalsStorage
import Foundation
import Testing

/// Dates before the base: as of them nobody knows the state, so that they are errors as numbers
/// before it are.
@Suite struct DateBeforeFloorTests {
  /// A store of ten notes, the tenth of which are its transactions 2 to 11.
  private func store(_ location: StoreLocation) throws -> Store {
    let store = try noteStore(location)
    for number in 1...10 { try store.note("\(number)") }
    return store
  }

  private func moment(_ number: Int64, _ store: Store) throws -> Date {
    try store.transaction(number).timestamp
  }

  private func microsecond(before date: Date) -> Date {
    Date(Timestamp(microseconds: Timestamp(date).microseconds - 1))
  }

  private func expectGap<R>(_ asked: Date, base: Int64, _ body: () throws -> R) {
    let error = #expect(throws: AnnalsError.self) { _ = try body() }
    #expect(error?.code == .pruned)
    #expect(error?.gap?.requestedDate == asked && error?.gap?.requested == nil)
    #expect(error?.gap?.oldestValid.number == base)
  }

  @Test func aPrunedStoreSaysThatItDoesNotKnow() throws {
    let location = memoryFile()
    let store = try store(location)
    let (early, base, next) = try (moment(3, store), moment(6, store), moment(7, store))
    let before = microsecond(before: base)
    try store.prune(store.prunePlan(before: 7), author: "ann")
    for asked in [early, before, Date(timeIntervalSince1970: 0)] {
      expectGap(asked, base: 6) { try store.snapshot(at: asked) }
      expectGap(asked, base: 6) { try store.token(at: asked) }
      expectGap(asked, base: 6) { try store.history(after: asked) }
      expectGap(asked, base: 6) { try store.changes(after: asked) }
      expectGap(asked, base: 6) { try store.diff(from: asked, to: 8) }
      expectGap(asked, base: 6) { try store.diff(from: 8, to: asked) }
      for flatten in [false, true] {
        expectGap(asked, base: 6) { try store.replay(to: "/out", at: asked, flatten: flatten) }
      }
    }
    #expect(try location.fileSystem.identity(of: "/out") == nil)
    let error = #expect(throws: AnnalsError.self) { try store.snapshot(at: early) }
    #expect(error?.message.contains("as of \(Timestamp(early))") == true)
    let told = "by ann). Oldest readable state: 6, of \(Timestamp(base))"
    #expect(error?.message.contains(told) == true)
    // The base's own moment, and what lies between it and the next, are known.
    #expect(try store.snapshot(at: base).number == 6)
    let between = microsecond(before: next)
    #expect(try store.snapshot(at: between).number == 6)
    #expect(try store.history(after: base).count() == 5)
    // Nothing to prune is no error: the same call is made again and again.
    #expect(try store.prunePlan(before: early).transactions == 0)
  }

  @Test func aFlattenedReplayHasForgottenToo() throws {
    let location = memoryFile()
    let store = try store(location)
    let (early, base) = try (moment(3, store), moment(6, store))
    try store.replay(to: "/flat.annals", at: 6, flatten: true)
    let place = StoreLocation(fileSystem: location.fileSystem, path: "/flat.annals")
    let flat = try Store(place, creates: false)
    expectGap(early, base: 6) { try flat.snapshot(at: early) }
    #expect(try flat.snapshot(at: base).number == 6)
  }

  /// A base of 0 is the beginning: before all history there was nothing.
  @Test func beforeTheBeginningIsTheEmptyState() throws {
    let store = try store(memoryFile())
    let asked = Date(timeIntervalSince1970: 0)
    #expect(try store.snapshot(at: asked).number == 0)
    #expect(try store.history(after: asked).count() == 11)
  }
}
