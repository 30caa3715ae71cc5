import Annals
import AnnalsFaults
import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import SystemPackage
import Testing

/// A document whose content is written and read by stream.
struct StreamedDocument: Record {
  var title: String
  var content: Data
  var text: String?

  static let entity = RecordEntity(
    "Document", StreamedDocument.init,
    Property("title", \.title),
    Property("content", \.content),
    Property("text", \.text))
}

/// Bytes that no compression makes smaller; the same for one seed.
func randomBytes(_ count: Int, seed: UInt64) -> [UInt8] {
  var random = SeededRandom(seed: seed)
  var words = [UInt64](repeating: 0, count: (count + 7) / 8)
  for index in words.indices { words[index] = random.next() }
  return words.withUnsafeBytes { Array($0.prefix(count)) }
}

/// Hands out bytes in pieces of a length, and fails behind so many of them.
final class TestInput: Sendable {
  struct Failure: Error {}

  private let bytes: [UInt8]
  private let step: Int
  private let failing: Int?
  private let state = Locked((done: 0, greatest: 0))

  init(_ bytes: [UInt8], step: Int = .max, failingAfter failing: Int? = nil) {
    self.bytes = bytes
    self.step = step
    self.failing = failing
  }

  /// The most bytes that were asked for at once.
  var greatestCall: Int { state.withLock { $0.greatest } }

  func read(_ buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    try state.withLock { state in
      state.greatest = max(state.greatest, buffer.count)
      if let failing, state.done >= failing { throw Failure() }
      let count = min(buffer.count, step, bytes.count - state.done)
      buffer.copyBytes(from: bytes[state.done..<state.done + count])
      state.done += count
      return count
    }
  }

  /// With a length that is said before, or not.
  func input(length: Int?) -> ByteInput { ByteInput(length: length) { try self.read($0) } }
}

/// Values that are written without being in memory as a whole.
@Suite struct ByteInputTests {
  static let piece = FormatLimits.largeValuePieceLength
  private let path = "/test.annals"

  private func store(_ files: any FileSystem) throws -> Store {
    try Store(
      StoreLocation(fileSystem: files, path: path), records: StreamedDocument.self,
      environment: .fixed(seed: 1))
  }

  @discardableResult
  private func insert(
    _ store: Store, _ input: ByteInput, title: String = "a"
  ) throws -> ObjectID {
    try store.write { tx in
      let made = try tx.insert(StreamedDocument(title: title, content: Data(), text: nil))
      try tx.set(\.content, of: made, from: input)
      return made.objectID
    }
  }

  private func content(_ store: Store, _ id: ObjectID) throws -> [UInt8]? {
    try store.snapshot().bytes(\StreamedDocument.content, of: id)?.read()
  }

  /// Every edge, with and without a length, in steps that are no divisors of a piece.
  @Test(
    arguments: [
      0, 1, 4_095, 4_096, 4_097, piece - 1, piece, piece + 1, 2 * piece, 3 * piece + 17,
    ], [true, false])
  func anyLengthIsWritten(length: Int, isSaid: Bool) throws {
    let bytes = randomBytes(length, seed: UInt64(length) + 1)
    let files = MemoryFileSystem()
    let store = try store(files)
    let source = TestInput(bytes, step: 70_001)
    let id = try insert(store, source.input(length: isSaid ? length : nil))
    #expect(source.greatestCall <= ByteInputTests.piece)
    #expect(try content(store, id) == bytes)
    let object = try #require(try store.snapshot().object(StreamedDocument.self, id))
    #expect(object.content == Data(bytes) && object.title == "a")
    // As it is written at once.
    let other = try store.write { tx in
      try tx.insert(StreamedDocument(title: "b", content: Data(bytes), text: nil)).objectID
    }
    let frames = try files.frames(of: path, .largeValue)
    let piece = ByteInputTests.piece
    let count = length > 4_096 ? (length + piece - 1) / piece : 0
    #expect(frames.count == 2 * count)
    #expect(try content(store, other) == bytes)
    #expect(try files.findings(about: path) == [] && store.verifyHistory() == [])
    try store.close()
    let again = try Store(
      StoreLocation(fileSystem: files, path: path), creates: false, options: .readOnly)
    #expect(try content(again, id) == bytes)
    // No temporary file is left.
    #expect(try files.identity(of: "\(path).spool0.new") == nil)
  }

  @Test func piecesAndFilesAndHandlesAreInputs() throws {
    let bytes = randomBytes(2 * ByteInputTests.piece + 5, seed: 4)
    let folder = try TemporaryFolder()
    try Data(bytes).write(to: folder.url("big"))
    let store = try store(MemoryFileSystem())
    let slices = stride(from: 0, to: bytes.count, by: 300_000).map {
      Array(bytes[$0..<min($0 + 300_000, bytes.count)])
    }
    let handle = try FileHandle(forReadingFrom: folder.url("big"))
    let handleInSlices = try FileHandle(forReadingFrom: folder.url("big"))
    try handleInSlices.seek(toOffset: 7)
    let inputs: [(ByteInput, [UInt8])] = [
      (ByteInput(pieces: slices), bytes), (ByteInput(pieces: [[], bytes, []]), bytes),
      (ByteInput(pieces: [Data]()), []), (ByteInput(contentsOf: folder.path("big")), bytes),
      (ByteInput(contentsOf: folder.url("big")), bytes), (ByteInput(handle), bytes),
      (ByteInput(handleInSlices), Array(bytes[7...])),
    ]
    for (input, wanted) in inputs {
      let id = try insert(store, input)
      #expect(try content(store, id) == wanted)
    }
    let missing = #expect(throws: AnnalsError.self) {
      try insert(store, ByteInput(contentsOf: folder.path("none")))
    }
    #expect(missing?.code == .notFound)
  }

  /// A source that throws leaves nothing, wherever it does, and the transaction may go on.
  @Test(
    arguments: [0, 3_000, 5_000, piece - 1, piece, piece + 1, 2 * piece + 9], [true, false])
  func aSourceThatThrowsLeavesNothing(failing: Int, isSaid: Bool) throws {
    let bytes = randomBytes(3 * ByteInputTests.piece, seed: 5)
    let files = MemoryFileSystem()
    let store = try store(files)
    let id = try insert(store, ByteInput(pieces: [[1, 2, 3] as [UInt8]]))
    let before = store.token
    let source = TestInput(bytes, step: 50_000, failingAfter: failing)
    let input = source.input(length: isSaid ? bytes.count : nil)
    #expect(throws: TestInput.Failure.self) {
      try store.write { try $0.set(\StreamedDocument.content, of: id, from: input) }
    }
    #expect(store.token == before)
    // The same within a transaction that goes on, before and behind other large values.
    let again = TestInput(bytes, step: 50_000, failingAfter: failing)
    let (first, last) = (
      randomBytes(ByteInputTests.piece + 3, seed: 6), randomBytes(5_000, seed: 7)
    )
    let ids = try store.write { tx in
      var ids: [ObjectID] = []
      for (number, value) in [first, last].enumerated() {
        let made = try tx.insert(StreamedDocument(title: "\(number)", content: Data(), text: nil))
        try tx.set(\.content, of: made, from: ByteInput(pieces: [value]))
        ids.append(made.objectID)
        if number == 1 { break }
        #expect(throws: TestInput.Failure.self) {
          let input = again.input(length: isSaid ? bytes.count : nil)
          try tx.set(\StreamedDocument.content, of: id, from: input)
        }
        #expect(try tx.bytes(\StreamedDocument.content, of: id)?.read() == [1, 2, 3])
      }
      return ids
    }
    #expect(try content(store, ids[0]) == first && content(store, ids[1]) == last)
    #expect(try content(store, id) == [1, 2, 3])
    #expect(try files.frames(of: path, .largeValue).count == 3)
    #expect(try files.findings(about: path) == [] && store.verifyHistory() == [])
  }

  @Test func anInputOfAnotherLengthThanItSaidIsRefused() throws {
    let store = try store(MemoryFileSystem())
    let id = try insert(store, ByteInput(pieces: [Data([9])]))
    for (count, length) in [
      (10, 9), (9, 10), (10, 0), (0, 10), (5_000, 4_999), (2_000_000, 1_999_999),
      (2_000_000, 2_000_001), (3_000_000, 1_048_576), (1_048_576, 2_000_000),
    ] {
      let input = TestInput(randomBytes(count, seed: 8)).input(length: length)
      let error = #expect(throws: AnnalsError.self) {
        try store.write { try $0.set(\StreamedDocument.content, of: id, from: input) }
      }
      #expect(error?.code == .invalidInput, "\(count) of \(length)")
    }
    #expect(try content(store, id) == [9])
  }

  /// Text is checked while it is read, also where a piece ends within a character.
  @Test func textMustBeUTF8() throws {
    let store = try store(MemoryFileSystem())
    let id = try insert(store, ByteInput(pieces: [Data()]))
    func set(_ bytes: [UInt8]) throws {
      try store.write {
        try $0.set(\StreamedDocument.text, of: id, from: ByteInput(pieces: [bytes]))
      }
    }
    for shift in 0..<4 {
      let text = String(repeating: "x", count: shift) + String(repeating: "🌫", count: 700_000)
      try set(Array(text.utf8))
      #expect(try store.snapshot().object(StreamedDocument.self, id)?.text == text)
    }
    let long = Array(String(repeating: "é", count: ByteInputTests.piece).utf8)
    let bad: [[UInt8]] = [
      [0xFF], Array("abc".utf8) + [0xC3], long + [0xC3], long + [0x80], [0xC3] + long,
      Array(long.prefix(ByteInputTests.piece - 1)) + [0xC3, 0x41] + long,
    ]
    for bytes in bad {
      let error = #expect(throws: AnnalsError.self) { try set(bytes) }
      #expect(error?.code == .invalidInput)
    }
  }

  /// Setting the bytes that are there is no change, and leaves no second copy.
  @Test(arguments: [true, false])
  func theSameBytesAreNoChange(isSaid: Bool) throws {
    let bytes = randomBytes(2 * ByteInputTests.piece + 1, seed: 9)
    let files = MemoryFileSystem()
    let store = try store(files)
    func input(_ bytes: [UInt8]) -> ByteInput {
      TestInput(bytes).input(length: isSaid ? bytes.count : nil)
    }
    let id = try insert(store, input(bytes))
    let (frames, head) = (try files.frames(of: path, .largeValue).count, store.token)
    try store.write { try $0.set(\StreamedDocument.content, of: id, from: input(bytes)) }
    #expect(store.token == head)
    // There and back within a transaction.
    var other = bytes
    other[ByteInputTests.piece] ^= 1
    try store.write {
      try $0.set(\StreamedDocument.content, of: id, from: input(other))
      #expect(try $0.bytes(\StreamedDocument.content, of: id)?.read() == other)
      try $0.set(\StreamedDocument.content, of: id, from: input(bytes))
    }
    #expect(store.token == head)
    #expect(try files.frames(of: path, .largeValue).count == frames)
    try store.write { try $0.set(\StreamedDocument.content, of: id, from: input(other)) }
    #expect(try content(store, id) == other)
    let change = try #require(try store.transaction(store.token.number).changes.first)
    #expect(try change.bytesBefore("content")?.read() == bytes)
    let typed = try #require(change.as(StreamedDocument.self))
    #expect(try typed.bytesAfter(\.content)?.read() == other)
    #expect(try typed.bytesAfter(\.title) == nil)
    #expect(try files.findings(about: path) == [] && store.verifyHistory() == [])
  }

  @Test func whatHasNoBytesIsRefused() throws {
    let store = try noteStore()
    let id = try store.note("a")
    for (name, code) in [
      ("count", AnnalsError.Code.invalidArgument), ("none", .invalidArgument),
      ("folder", .invalidArgument),
    ] {
      let error = #expect(throws: AnnalsError.self) {
        try store.write { try $0.set(name, of: id, from: ByteInput(pieces: [[1] as [UInt8]])) }
      }
      #expect(error?.code == code)
    }
    let gone = try store.note("b")
    try store.write { try $0.delete(gone) }
    let error = #expect(throws: AnnalsError.self) {
      try store.write { try $0.set("text", of: gone, from: ByteInput(pieces: [[1] as [UInt8]])) }
    }
    #expect(error?.code == .noSuchObject)
  }

  /// A full disk leaves nothing, and the transaction goes on without the value.
  @Test(arguments: [true, false])
  func aFullDiskLeavesNothing(isSaid: Bool) throws {
    let disk = FaultyFileSystem()
    let store = try store(disk)
    let id = try insert(store, ByteInput(pieces: [Data([1])]))
    disk.capacity = UInt64(3 * ByteInputTests.piece)
    let bytes = randomBytes(5 * ByteInputTests.piece, seed: 10)
    try store.write { tx in
      let input = TestInput(bytes).input(length: isSaid ? bytes.count : nil)
      let error = #expect(throws: AnnalsError.self) {
        try tx.set(\StreamedDocument.content, of: id, from: input)
      }
      #expect(error?.code == .noSpace)
      try tx.set(\StreamedDocument.title, of: id, to: "b")
    }
    #expect(try content(store, id) == [1])
    #expect(try store.snapshot().object(StreamedDocument.self, id)?.title == "b")
    disk.capacity = .max
    #expect(try disk.frames(of: path, .largeValue).isEmpty)
    try insert(store, TestInput(bytes).input(length: nil))
    #expect(try disk.findings(about: path) == [] && store.verifyHistory() == [])
    #expect(disk.paths == [path])
  }

  /// The power fails at each call: what was acknowledged is there, whole, and nothing by half.
  @Test(arguments: [true, false])
  func powerMayFailAtAnyPoint(isSaid: Bool) throws {
    let bytes = randomBytes(ByteInputTests.piece + 100, seed: 11)
    func work(_ disk: FaultyFileSystem) throws -> Int {
      var acknowledged = 0
      do {
        let store = try store(disk)
        for title in ["a", "b"] {
          let input = TestInput(bytes).input(length: isSaid ? bytes.count : nil)
          try insert(store, input, title: title)
          acknowledged += 1
        }
        try store.close()
      } catch let error as AnnalsError {
        guard error.underlying == .operationNotSupportedByDevice || error.code == .poisoned else {
          throw error
        }
      }
      return acknowledged
    }
    let count = FaultyFileSystem()
    #expect(try work(count) == 2)
    for point in 0..<count.pointCount {
      let disk = FaultyFileSystem(seed: UInt64(point))
      disk.crash(at: point)
      let acknowledged = try work(disk)
      try disk.forEachSurvivor(limit: 2) { survivor in
        let place = "point \(point) \(count.points[point]), \(survivor)"
        let left = try self.store(survivor.files)
        let found = try left.snapshot().objects(of: StreamedDocument.self)
        #expect(found.count >= acknowledged && found.count <= acknowledged + 1, "\(place)")
        for object in found { #expect(object.content == Data(bytes), "\(place)") }
        try insert(left, ByteInput(pieces: [bytes]), title: "c")
        #expect(try left.verifyHistory() == [], "\(place)")
        #expect(survivor.files.paths == [path], "\(place)")
      }
    }
  }

  /// Pieces are in the log while later ones are read: so memory holds none of them.
  @Test func piecesAreWrittenAheadAsTheyAreRead() throws {
    let files = CountingFiles()
    let store = try store(files)
    let id = try insert(store, ByteInput(pieces: [Data()]))
    _ = files.takeCounts()
    let piece = ByteInputTests.piece
    let done = Locked((read: 0, written: 0))
    let input = ByteInput(length: 20 * piece) { buffer in
      done.withLock { done in
        done.written += files.takeCounts().written
        // All but what the buffers hold.
        #expect(done.written >= done.read - 3 * piece)
        buffer.initializeMemory(as: UInt8.self, repeating: UInt8(done.read / piece))
        let count = min(buffer.count, 20 * piece - done.read)
        done.read += count
        return count
      }
    }
    try store.write { try $0.set(\StreamedDocument.content, of: id, from: input) }
    #expect(done.withLock { $0.read } == 20 * piece)
    #expect(try store.snapshot().bytes(\StreamedDocument.content, of: id)?.count == 20 * piece)
  }

  @Test func anInputMayReadTheStore() throws {
    let store = try store(MemoryFileSystem())
    let bytes = randomBytes(2 * ByteInputTests.piece + 3, seed: 12)
    let id = try insert(store, ByteInput(pieces: [bytes]))
    let cursor = Locked(
      try #require(
        try store.snapshot().bytes(\StreamedDocument.content, of: id)
      ).makeCursor())
    let rest = Locked<[UInt8]>([])
    let copy = try insert(
      store,
      ByteInput { buffer in
        try rest.withLock { rest in
          if rest.isEmpty { rest = try cursor.withLock { try $0.next() } ?? [] }
          let count = min(buffer.count, rest.count)
          buffer.copyBytes(from: rest.prefix(count))
          rest.removeFirst(count)
          return count
        }
      })
    #expect(try content(store, copy) == bytes)
  }

  @Test func aSequenceOfATaskIsStaged() async throws {
    let files = MemoryFileSystem()
    let store = try store(files)
    let id = try insert(store, ByteInput(pieces: [Data()]))
    for length in [0, 10, 5_000, ByteInputTests.piece, 3 * ByteInputTests.piece + 1] {
      let bytes = randomBytes(length, seed: UInt64(length))
      let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
      for start in stride(from: 0, to: length, by: 100_000) {
        continuation.yield(Array(bytes[start..<min(start + 100_000, length)]))
      }
      continuation.finish()
      let input = try await store.stage(stream)
      try await store.write { try $0.set(\StreamedDocument.content, of: id, from: input) }
      #expect(try content(store, id) == bytes)
      // More than once.
      let other = try insert(store, input)
      #expect(try content(store, other) == bytes)
      var read: [UInt8] = []
      let stored = try #require(try store.snapshot().bytes(\StreamedDocument.content, of: id))
      for try await piece in stored.pieces { read += piece }
      #expect(read == bytes)
    }
    let (single, continuation) = AsyncStream.makeStream(of: UInt8.self)
    for byte in randomBytes(70_000, seed: 3) { continuation.yield(byte) }
    continuation.finish()
    let input = try await store.stage(bytes: single)
    #expect(try content(store, insert(store, input)) == randomBytes(70_000, seed: 3))
    let failing = AsyncThrowingStream<[UInt8], any Error> { continuation in
      continuation.yield(randomBytes(2_000_000, seed: 1))
      continuation.finish(throwing: TestInput.Failure())
    }
    await #expect(throws: TestInput.Failure.self) { try await store.stage(failing) }
    #expect(try files.identity(of: "\(path).spool0.new") == nil)
  }
}
