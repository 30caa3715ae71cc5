import Annals
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// Two files of one store are compared.
@Suite struct VerifyAgainstTests {
  /// A store with notes, and a copy of it; both open.
  private func pair(_ count: Int) throws -> (Store, Store, copy: StoreLocation) {
    let location = memoryFile()
    let store = try noteStore(location)
    for number in 0..<count { try store.note("\(number)", text: "text \(number)") }
    let copy = StoreLocation(fileSystem: location.fileSystem, path: "/copy.annals")
    try write(location, to: copy)
    return (store, try noteStore(copy), copy)
  }

  /// Copies a file as it is.
  private func write(_ location: StoreLocation, to copy: StoreLocation) throws {
    let bytes = try location.fileSystem.contents(of: location.path)
    let file = try copy.fileSystem.create(copy.path, like: nil, requiresOwner: false)
    defer { file.close() }
    try bytes.withUnsafeBytes { try file.write($0, at: 0) }
  }

  private func texts(_ a: Store, _ b: Store) throws -> [String] {
    try a.verify(against: b).map { "\($0.severity): \($0.message)" }
  }

  @Test func copiesAreTheSame() throws {
    let (store, copy, _) = try pair(40)
    #expect(try texts(store, copy) == [])
    try store.note("more")
    let longer = "note: this file goes on to transaction 42, the other one ends with 41"
    #expect(try texts(store, copy) == [longer])
    // What is each file's own.
    try copy.compact(smallest: true)
    _ = try copy.consumer("reader")
    #expect(try texts(store, copy) == [longer])
    #expect(try texts(copy, store).first?.hasPrefix("note: the other one goes on") == true)
    try copy.prune(copy.prunePlan(before: 30))
    #expect(try texts(store, copy) == [longer])
    try store.prune(store.prunePlan(before: 42))
    let later =
      "warning: this file begins after transaction 41, and the other one ends with 41"
    #expect(try texts(store, copy).filter { $0.hasPrefix(later) }.isEmpty)
    try store.note("even more")
    try store.prune(store.prunePlan(before: 43))
    #expect(try texts(store, copy).first?.contains("nothing in common") == true)
  }

  @Test func anotherStore() throws {
    let (store, _, _) = try pair(1)
    let other = try noteStore(memoryFile(), seed: 9)
    #expect(try texts(store, other).first?.hasPrefix("error: this file is of store ") == true)
  }

  @Test func historiesThatPart() throws {
    let (store, copy, _) = try pair(3)
    try store.note("x", text: "here")
    try copy.note("x", text: "there")
    let found = try texts(store, copy)
    #expect(found.count == 1)
    #expect(found[0].hasPrefix("error: transaction 5 differs: "), "\(found)")
    #expect(found[0].hasSuffix("Up to transaction 4 the files are the same"), "\(found)")
  }

  /// What a transaction says besides its changes, and each way in which changes differ.
  @Test func eachDifferenceIsNamed() throws {
    let insert = ChangeBatch(.insert, 1, 4, [(1, .null, .string("k")), (2, .null, .string("t"))])
    func envelope(
      author: String? = nil, context: String? = nil, metadata: [MetadataEntry] = []
    ) -> TransactionEnvelope {
      TransactionEnvelope(
        timestamp: Timestamp(microseconds: 1 << 50), author: author, context: context,
        metadata: metadata)
    }
    /// The only difference of two files, one with a transaction, and one with another.
    func difference(
      _ first: TransactionEnvelope, _ second: TransactionEnvelope, _ two: ChangeBatch? = nil
    ) throws -> String {
      let (store, copy, place) = try pair(3)
      try copy.close()
      let own = StoreLocation(fileSystem: place.fileSystem, path: "/test.annals")
      try store.close()
      for (at, envelope, batch) in [(own, first, insert), (place, second, two ?? insert)] {
        var batch = batch
        try LogFile.write(to: at.path, in: at.fileSystem) { _ = try $0.append(envelope, &batch) }
      }
      let found = try texts(
        try Store(own, creates: false, options: .readOnly),
        try Store(place, creates: false, options: .readOnly))
      #expect(found.count <= 1, "\(found)")
      return found.first ?? ""
    }
    #expect(try difference(envelope(), envelope()) == "")
    #expect(
      try difference(envelope(author: "a"), envelope(author: "b"))
        .contains("its author is a in this file, and b in the other one"))
    #expect(
      try difference(envelope(context: "a"), envelope())
        .contains("its context is a in this file, and none in the other one"))
    #expect(
      try difference(
        envelope(metadata: [MetadataEntry(key: "m", value: .int(1))]), envelope()
      )
      .contains("its metadata"))
    func two(_ batch: ChangeBatch) throws -> String {
      try difference(envelope(), envelope(), batch)
    }
    #expect(
      try two(ChangeBatch(.insert, 1, 4, [(1, .null, .string("k")), (2, .null, .string("u"))]))
        .contains("text of insert Note#4 is t in this file, and u in the other one"))
    #expect(
      try two(ChangeBatch(.insert, 1, 4, [(1, .null, .string("k"))]))
        .contains("the properties of insert Note#4"))
    #expect(
      try two(ChangeBatch(.insert, 1, 4, [(1, .null, .string("k")), (3, .null, .int(1))]))
        .contains("the properties of insert Note#4"))
    #expect(
      try two(ChangeBatch(.insert, 1, 5, [(1, .null, .string("k")), (2, .null, .string("t"))]))
        .contains("a change is insert Note#4 in this file, and insert Note#5 in the other one"))
    var more = insert
    let another = ChangeBatch(.insert, 1, 5, [(1, .null, .string("l"))])
    more.append(another.changes[0], from: another)
    #expect(try two(more).contains("the other one has more changes in it"))
  }

  /// Large values have numbers of each file's own.
  @Test func largeValues() throws {
    let (store, copy, place) = try pair(1)
    try copy.close()
    let long = String(repeating: "long ", count: 2_000)
    try store.note("large", text: long)
    #expect(try texts(store, try noteStore(place)).count == 1)
    try place.fileSystem.remove(place.path)
    try write(StoreLocation(fileSystem: place.fileSystem, path: "/test.annals"), to: place)
    try store.compact(smallest: true)
    #expect(try texts(store, try noteStore(place)) == [])
  }

  /// A copy that still has what was erased.
  @Test func whatWasErased() throws {
    let (store, copy, _) = try pair(3)
    let id = try #require(try store.snapshot().objects(of: "Note").first?.id)
    try store.erase(id, reason: "asked for")
    let found = try texts(store, copy)
    #expect(found.count == 1)
    #expect(
      found[0].hasPrefix("warning: the other one has a value in transaction 2 that this file has"),
      "\(found)")
    #expect(try texts(copy, store).first?.hasPrefix("warning: this file has a value") == true)
  }
}
