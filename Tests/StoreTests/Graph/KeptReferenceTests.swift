import Annals
import AnnalsTestSupport
import Testing

/// References to deleted objects are in the index of a relationship that keeps them.
@Suite struct KeptReferenceTests {
  private struct Note: Record {
    var title: String
    var about: Reference<Note>?
    static let entity = RecordEntity(
      "Note", Note.init, Property("title", \.title),
      Property("about", \.about).onDelete(.keep).inverse("comments"))

    static let comments = Inverse(\Note.about)
  }

  @Test func theyLeadNowhere() throws {
    let store = try Store(.memory, records: Note.self, environment: .fixed())
    let (gone, here) = try store.write { tx in
      let gone = try tx.insert(Note(title: "gone"))
      let here = try tx.insert(Note(title: "here"))
      try tx.insert(Note(title: "of gone", about: gone.reference))
      try tx.insert(Note(title: "of here", about: here.reference))
      for number in 0..<100 { try tx.insert(Note(title: "\(number)")) }
      return (gone, here)
    }
    let before = store.snapshot()
    try store.write { try $0.delete(gone) }
    let snapshot = store.snapshot()
    #expect(try snapshot.objects(here, \.comments).map(\.title) == ["of here"])
    #expect(try snapshot.objects(here, \.comments).first?.about == here.reference)
    #expect(try snapshot.objects(gone, \.comments).isEmpty)
    #expect(try snapshot.objectIDs(Fetch(gone, \.comments)).isEmpty)
    #expect(try snapshot.count(gone, \.comments) == 0)
    let either = Fetch(Note.self).where(\.about == gone || \.about == here)
    #expect(try snapshot.explain(either).contains("by reference index `about`"))
    #expect(try snapshot.fetch(either).map(\.title) == ["of here"])
    #expect(try snapshot.count(either) == 1)
    #expect(try before.fetch(either).map(\.title) == ["of gone", "of here"])
    #expect(try before.count(either) == 2)
    let sorted = Fetch(gone, \.comments).sorted(by: \.title)
    #expect(try snapshot.fetch(sorted).isEmpty)
    #expect(try before.fetch(sorted).map(\.title) == ["of gone"])
  }
}
