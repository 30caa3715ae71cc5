import Annals
import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import FuzzTargets

/// Checkpoints whose lists of the objects of segments are missing, wrong or unreadable.
@Suite struct WrongObjectsTests {
  private static let schema = Schema {
    Entity("Note") { Attribute("text", .string) }
  }

  /// A file of more than 1 MiB in which the first note is changed at the beginning and the end.
  private func longFile() throws -> LogImage {
    let files = MemoryFileSystem()
    let location = StoreLocation(fileSystem: files, path: "/long.annals")
    let store = try Store(location, schema: Self.schema)
    var ids: [ObjectID] = []
    try store.write { tx in
      for text in ["first", "other", "third"] {
        ids.append(try tx.insert("Note", ["text": .string(text)]))
      }
    }
    // Not so long that blocks are written, which are compressed.
    let text = String(repeating: "filler ", count: 200)
    for index in 0..<500 {
      try store.write { tx in try tx.update(ids[1], ["text": .string("\(index) \(text)")]) }
    }
    try store.write { tx in try tx.update(ids[0], ["text": "again"]) }
    try store.checkpoint()
    try store.close()
    return try #require(LogImage(file: try files.contents(of: location.path)))
  }

  /// The first note; an image is of a store of its own.
  private func note(_ store: Store) throws -> ObjectID {
    try #require(ObjectID("1#1@\(store.id)"))
  }

  /// The transactions that changed the first note.
  private func numbers(_ store: Store) throws -> [Int64] {
    try store.history(of: note(store)).collect().map(\.number)
  }

  /// What a verification finds, but for the slots that the image is given: these end its first
  /// half.
  private func problems(_ store: Store) throws -> [String] {
    try (store.verify() + store.verifyHistory()).filter { $0.severity != .note }.map(\.message)
      .filter { !$0.contains("root slot") }
  }

  @Test func theListHasTheObjects() throws {
    var image = try longFile()
    try image.editDirectory {
      let objects = try #require($0.segmentObjects)
      #expect(objects.firstSegment == 0)
      #expect(objects.table.count == $0.historyIndex.count)
      let having = try objects.table.entries.filter {
        try $0.mayContain(any: [ObjectReference(entity: 1, row: 1)])
      }
      #expect(having.count == 2)
    }
    let store = try Store(try image.location(), creates: false, options: .readOnly)
    #expect(try numbers(store) == [2, 503])
    #expect(try problems(store) == [])
  }

  /// An older program drops the list with its next checkpoint; later segments are listed anew.
  @Test func withoutTheListAllIsRead() throws {
    var image = try longFile()
    try image.editDirectory { $0.segmentObjects = nil }
    let location = try image.location()
    var store = try Store(location, creates: false)
    #expect(try numbers(store) == [2, 503])
    try store.write { tx in try tx.update(note(store), ["text": "behind"]) }
    try store.checkpoint()
    try store.close()
    store = try Store(location, creates: false)
    try store.write { tx in try tx.update(note(store), ["text": "at the end"]) }
    #expect(try numbers(store) == [2, 503, 504, 505])
    #expect(try problems(store) == [])
    try store.close()
  }

  @Test func aMissingObjectIsTold() throws {
    var image = try longFile()
    try image.editDirectory { directory in
      var objects = try #require(directory.segmentObjects)
      let last = objects.table.entries.count - 1
      objects.table.entries[last] = try #require(SegmentObjects([RowRange(1, 3...9)]))
      directory.segmentObjects = objects
    }
    let location = try image.location()
    let store = try Store(location, creates: false)
    let found = try problems(store)
    #expect(found.count == 1)
    #expect(found.first?.contains("in the history index, no object 1#2 where") == true, "\(found)")
    // As the message says.
    try store.compact(smallest: true)
    #expect(try numbers(store) == [2, 503])
    #expect(try problems(store) == [])
  }

  @Test func whatCannotBeReadSkipsNothing() throws {
    var image = try longFile()
    try image.editDirectory { directory in
      var objects = try #require(directory.segmentObjects)
      // One entry of four bytes.
      let bytes: ContiguousArray<UInt8> = [1, 4, 1, 0, 9, 9]
      objects.table.entries[0] = try bytes.withUnsafeBytes {
        try TableCodec<SegmentObjects>.decode($0)[0]
      }
      directory.segmentObjects = objects
    }
    let store = try Store(try image.location(), creates: false, options: .readOnly)
    #expect(try numbers(store) == [2, 503])
    let found = try problems(store)
    #expect(found.first?.contains("the objects of a segment cannot be read") == true, "\(found)")
  }

  /// Of more segments than the index has, or of fewer.
  @Test(arguments: [UInt64(1), 7]) func objectsOfOtherSegmentsAreRefused(more: UInt64) throws {
    var image = try longFile()
    try image.editDirectory { $0.segmentObjects?.firstSegment += more }
    // The checkpoint is not used; the history is right without it.
    let store = try Store(try image.location(), creates: false, options: .readOnly)
    #expect(try numbers(store) == [2, 503])
    #expect(try !problems(store).isEmpty)
  }
}
