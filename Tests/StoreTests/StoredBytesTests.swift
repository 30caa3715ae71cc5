import Annals
import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// Values that are read by range and piece by piece.
@Suite struct StoredBytesTests {
  private static let piece = FormatLimits.largeValuePieceLength
  private let path = "/test.annals"

  private func store(_ files: any FileSystem) throws -> Store {
    try Store(
      StoreLocation(fileSystem: files, path: path), records: StreamedDocument.self,
      environment: .fixed(seed: 1))
  }

  private func insert(_ store: Store, _ bytes: [UInt8]) throws -> ObjectID {
    try store.write { tx in
      let made = try tx.insert(StreamedDocument(title: "a", content: Data(), text: nil))
      try tx.set(\.content, of: made, from: ByteInput(pieces: [bytes]))
      return made.objectID
    }
  }

  private func stored(_ store: Store, _ id: ObjectID) throws -> StoredBytes {
    try #require(try store.snapshot().bytes(\StreamedDocument.content, of: id))
  }

  /// Compares ranges at all edges, and beyond.
  private func expect(_ stored: StoredBytes, is bytes: [UInt8]) throws {
    #expect(stored.count == bytes.count)
    #expect(try stored.read() == bytes)
    let piece = StoredBytesTests.piece
    let edges = [0, 1, piece - 1, piece, piece + 1, 2 * piece, bytes.count - 1, bytes.count]
      .filter { (0...bytes.count).contains($0) }
    for start in edges {
      for end in edges where end >= start {
        #expect(try stored.read(start..<end) == Array(bytes[start..<end]), "\(start)..<\(end)")
      }
      #expect(try stored.read(start..<bytes.count + 10) == Array(bytes[start...]))
      var cursor = try stored.makeCursor(from: start)
      var read: [UInt8] = []
      while let next = try cursor.next() {
        #expect(!next.isEmpty && next.count <= max(piece, 4 << 20))
        read += next
        #expect(cursor.offset == start + read.count)
      }
      #expect(read == Array(bytes[start...]))
      #expect(try cursor.next() == nil)
    }
    #expect(try stored.read(bytes.count..<bytes.count + 5) == [])
    #expect(try stored.read(bytes.count + 1..<bytes.count + 5) == [])
    var pieces: [[UInt8]] = []
    try stored.forEachPiece { pieces.append(Array($0)) }
    #expect(pieces.flatMap { $0 } == bytes)
  }

  @Test(
    arguments: [0, 1, 4_096, 4_097, piece - 1, piece, piece + 1, 3 * piece + 17], [true, false])
  func rangesAreReadOfAnyLength(length: Int, isPacked: Bool) throws {
    // Some pieces can be deflated, others cannot.
    var bytes = randomBytes(length, seed: UInt64(length))
    if length > 2 * StoredBytesTests.piece {
      for index in StoredBytesTests.piece..<2 * StoredBytesTests.piece { bytes[index] = 7 }
    }
    let files = MemoryFileSystem()
    let store = try store(files)
    let id = try insert(store, bytes)
    if isPacked { try store.compact(smallest: true) }
    try expect(try stored(store, id), is: bytes)
    let history = try #require(try store.transaction(store.token.number).changes.first)
    try expect(try #require(try history.bytesAfter("content")), is: bytes)
  }

  /// A version that is stored as steps from the one before.
  @Test func versionsAreReadByRange() throws {
    let store = try store(MemoryFileSystem())
    var bytes = randomBytes(400_000, seed: 2)
    let id = try insert(store, bytes)
    var versions = [bytes]
    for round in 1...3 {
      bytes[round * 100_000] ^= 1
      bytes.insert(contentsOf: randomBytes(1_000, seed: UInt64(round)), at: round * 50_000)
      try store.write { [bytes] in
        try $0.set(\StreamedDocument.content, of: id, from: ByteInput(pieces: [bytes]))
      }
      versions.append(bytes)
    }
    let head = store.token.number
    try store.compact(smallest: true)
    for (number, version) in versions.enumerated() {
      let snapshot = try store.snapshot(at: head - 3 + Int64(number))
      try expect(
        try #require(try snapshot.bytes(\StreamedDocument.content, of: id)), is: version)
    }
  }

  /// A range reads the pieces that have it, and of the others the heads.
  @Test func aRangeReadsLittle() throws {
    let files = CountingFiles()
    let store = try store(files)
    let piece = StoredBytesTests.piece
    let bytes = randomBytes(20 * piece, seed: 3)
    let id = try insert(store, bytes)
    let stored = try stored(store, id)
    _ = files.takeCounts()
    #expect(stored.count == bytes.count)
    #expect(files.takeCounts().read == 0)
    for start in [0, 5 * piece - 3, 12 * piece + 500, 20 * piece - 16] {
      #expect(try stored.read(start..<start + 16) == Array(bytes[start..<start + 16]))
      let counts = files.takeCounts()
      #expect(counts.read <= 2 * piece + 20 * 200, "\(start)")
    }
    try stored.forEachPiece { _ in }
    let counts = files.takeCounts()
    #expect(counts.read < bytes.count + 21 * 200)
    #expect(counts.greatestRead <= piece + 100)
    var cursor = try stored.makeCursor()
    while try cursor.next() != nil {}
    #expect(files.takeCounts().read < bytes.count + 21 * 200)
  }

  /// Damage to one piece is met by what reads it, with its place, and by nothing else.
  @Test func damageToOnePieceIsItsOwn() throws {
    let piece = StoredBytesTests.piece
    let bytes = randomBytes(5 * piece, seed: 4)
    // Within the bytes, within the number, the length and the start, and the checksum of the whole.
    for place in [1_000, 0, 1, 4, 6] {
      let files = MemoryFileSystem()
      let store = try store(files)
      let id = try insert(store, bytes)
      let frames = try files.frames(of: path, .largeValue)
      let damaged = frames[2].offset
      for bits in [0x01, 0x40, 0x80] as [UInt8] {
        let offset = damaged + UInt64(FormatLimits.frameHeaderLength + place)
        try files.flip(bits, at: offset, of: path)
        let stored = try stored(store, id)
        for number in [0, 1, 3, 4] {
          let range = number * piece..<(number + 1) * piece
          #expect(try stored.read(range) == Array(bytes[range]), "\(place) \(number)")
        }
        for range in [2 * piece..<2 * piece + 1, 3 * piece - 1..<3 * piece + 1, 0..<5 * piece] {
          let error = #expect(throws: AnnalsError.self) { try stored.read(range) }
          #expect(error?.code == .damaged && error?.offset == damaged, "\(place) \(range)")
        }
        // What was handed out before the damage is right.
        var read: [UInt8] = []
        #expect(throws: AnnalsError.self) { try stored.forEachPiece { read += $0 } }
        #expect(read == Array(bytes[..<(2 * piece)]))
        var cursor = try stored.makeCursor(from: piece + 5)
        #expect(try cursor.next()?.count == piece - 5)
        #expect(throws: AnnalsError.self) { try cursor.next() }
        #expect(throws: AnnalsError.self) { try cursor.next() }
        try files.flip(bits, at: offset, of: path)
        #expect(try cursor.next() == Array(bytes[2 * piece..<3 * piece]))
      }
    }
  }

  /// Behind a frame whose header is damaged nothing is found; before it all is.
  @Test func aDamagedHeaderEndsWhatCanBeFound() throws {
    let piece = StoredBytesTests.piece
    let bytes = randomBytes(4 * piece, seed: 5)
    let files = MemoryFileSystem()
    let store = try store(files)
    let id = try insert(store, bytes)
    let frames = try files.frames(of: path, .largeValue)
    try files.flip(1, at: frames[2].offset + 8, of: path)
    let stored = try stored(store, id)
    #expect(try stored.read(piece..<2 * piece) == Array(bytes[piece..<2 * piece]))
    for start in [2 * piece, 3 * piece + 1] {
      let error = #expect(throws: AnnalsError.self) { try stored.read(start..<start + 1) }
      #expect(error?.code == .damaged && error?.offset == frames[2].offset)
    }
  }

  /// Each piece is what its frame says, but the pieces are not those of the value.
  @Test func aWholeReadingComparesTheWhole() throws {
    let bytes = randomBytes(5_000, seed: 6)
    let store = try store(MemoryFileSystem())
    let id = try insert(store, bytes)
    let value = try #require(
      try store.transaction(store.token.number).changes.first?.after("content"))
    guard case .large(var large) = value else { throw Mismatch("it is no large value") }
    #expect(try store.bytes(of: large) == bytes)
    large.checksum ^= 1
    let error = #expect(throws: AnnalsError.self) { try store.bytes(of: large) }
    #expect(error?.code == .damaged)
    #expect(try stored(store, id).read() == bytes)
  }

  @Test func whatReadsItEndsWithItsOwnError() throws {
    let store = try store(MemoryFileSystem())
    let id = try insert(store, randomBytes(3 * StoredBytesTests.piece, seed: 7))
    var count = 0
    #expect(throws: Mismatch.self) {
      try stored(store, id).forEachPiece { _ in
        count += 1
        if count == 2 { throw Mismatch("enough") }
      }
    }
    #expect(count == 2)
  }

  /// Bytes stay readable while others rewrite the file, and commit.
  @Test func otherStoresDoNotDisturb() throws {
    let files = MemoryFileSystem()
    let writer = try store(files)
    let bytes = randomBytes(3 * StoredBytesTests.piece, seed: 8)
    let id = try insert(writer, bytes)
    let reader = try Store(
      StoreLocation(fileSystem: files, path: path), creates: false, options: .readOnly)
    let stored = try stored(reader, id)
    var cursor = try stored.makeCursor()
    #expect(try cursor.next() == Array(bytes[..<StoredBytesTests.piece]))
    let source = TestInput(randomBytes(2 * StoredBytesTests.piece, seed: 9), step: 300_000)
    try writer.write { tx in
      let input = ByteInput { buffer in
        // Nobody sees the value that is being written.
        try reader.refresh()
        #expect(try self.stored(reader, id).count == bytes.count)
        return try source.read(buffer)
      }
      try tx.set(\StreamedDocument.content, of: id, from: input)
    }
    try reader.refresh()
    #expect(try self.stored(reader, id).count == 2 * StoredBytesTests.piece)
    try writer.compact()
    try reader.refresh()
    #expect(try stored.read() == bytes)
    #expect(try cursor.next() == Array(bytes[StoredBytesTests.piece..<2 * StoredBytesTests.piece]))
    try writer.prune(writer.prunePlan(before: writer.token.number))
    try writer.close()
    #expect(try stored.read(0..<5) == Array(bytes[..<5]))
  }

  @Test func whatHasNoBytesSaysSo() throws {
    let store = try noteStore()
    let id = try store.note("a", text: "Fog")
    let snapshot = store.snapshot()
    #expect(try snapshot.bytes("text", of: id)?.read() == Array("Fog".utf8))
    #expect(try snapshot.bytes("count", of: id) == nil)
    try store.write { try $0.update(id, ["count": 5]) }
    for name in ["count", "none", "folder"] {
      let error = #expect(throws: AnnalsError.self) { try store.snapshot().bytes(name, of: id) }
      #expect(error?.code == .invalidArgument)
    }
    try store.write { try $0.delete(id) }
    #expect(try store.snapshot().bytes("text", of: id) == nil)
    let change = try #require(try store.transaction(store.token.number).changes.first)
    #expect(try change.bytesBefore("text")?.read() == Array("Fog".utf8))
    #expect(try change.bytesAfter("text") == nil)
    let other = try noteStore().note("a")
    let foreign = ObjectID(store: RawUUID(high: 1, low: 2), entity: other.entity, row: other.row)
    let error = #expect(throws: AnnalsError.self) {
      try store.snapshot().bytes("text", of: foreign)
    }
    #expect(error?.code == .otherStore)
  }
}
