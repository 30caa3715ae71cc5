import AnnalsFormat
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

@testable import FuzzTargets

/// Small files that claim, or stand for, far more than they are. Each is given to the command as a
/// process of its own whose memory is limited, which it must neither exceed nor crash at. What a
/// sanitizer adds to a process would not fit.
@Suite(.enabled(if: !isSanitized, "a sanitizer needs more memory than the limit"))
struct HostileFileTests {
  /// In KiB of address space; the command alone takes less than a fifth of it.
  private static let limit = 700_000

  @Test func theLimitBites() throws {
    let few = try run(["verify", fixture("compacted").path], limit: 30_000)
    #expect(!(0...2).contains(few))
    #expect(try run(["verify", fixture("compacted").path]) == 0)
  }

  /// A checkpoint whose table of names is one chunk, named again and again: 20,000 names in 20 KB
  /// would be 2,000,000,000 names.
  @Test func aTableCannotNameAChunkTwice() throws {
    var image = try start()
    let offset = UInt64(image.file.count)
    var chunk: Bytes = []
    TableCodec<String>.encode(repeatElement("", count: 20_000)[...], into: &chunk)
    image.append(.chunk, chunk)
    var directory = CheckpointDirectory(number: 1)
    directory.names.chunks = (0..<100_000).map {
      ChunkReference(
        offset: offset, length: UInt32(chunk.count), checksum: 0, first: Int64($0) * 20_000,
        count: 20_000)
    }
    image.append(.checkpoint, directory.encode())
    #expect(try verify(image) == 1)
    #expect(try state(image) == 0)
  }

  /// Columns of 60 MiB in 270 KB each.
  @Test func columnsThatInflateAreGivenBack() throws {
    var image = try start()
    let zeros = Bytes(repeating: 0, count: 60 << 20)
    var deflate = Deflate()
    var column: Bytes = []
    zeros.withUnsafeBytes { ChunkSection.append($0, to: &column, deflate: &deflate) }
    #expect(column.count < 300 << 10)
    for number in UInt8(2)...9 {
      image.append(.block, [0, number, 1, 0, 0, 0, 1, 0, 1, 0, 0] + column)
    }
    #expect(try verify(image) == 1)
    #expect(try state(image) == 2)
  }

  /// As many empty transactions as a block may hold, in some hundred bytes, four times.
  @Test func denseBlocksAreReadOneByOne() throws {
    var image = try start()
    let count = FormatLimits.maximumChanges
    for block in Int64(0)..<4 {
      var batch = ChangeBatch()
      for index in 0..<Int64(count) {
        let number = 2 + block * Int64(count) + index
        batch.transactions.append(
          TransactionRecord(number: number, timestamp: Timestamp(microseconds: number)))
      }
      let payload = batch.block()
      #expect(payload.count < 400)
      image.append(.block, payload)
    }
    #expect(try state(image) == 0)
  }

  /// Values that the schema or the format do not admit, in records that are sound otherwise: what
  /// prints them must not meet them.
  @Test(arguments: ["reference", "number", "default", "metadata"])
  func valuesThatCannotBePrinted(what: String) throws {
    var image = try start()
    let last = try #require(image.frames.last)
    var batch = ChangeBatch()
    try last.payload.withUnsafeBytes { try TransactionCodec.decode($0, into: &batch) }
    var entity = try #require(batch.transactions[0].schemaChange.first).definition
    let number = entity.nextPropertyNumber
    let reference = Value.object(ObjectReference(entity: entity.number, row: 1))
    var attribute = Attribute("note", .any, isOptional: what != "default")
    attribute.number = number
    if what == "default" { attribute.defaultValue = reference }
    entity.attributes.append(attribute)
    entity.nextPropertyNumber += 1
    var record = TransactionRecord(number: 2, timestamp: Timestamp(microseconds: 1))
    record.schemaChange = [entity].map(EntityChange.init)
    if what == "metadata" {
      record.metadata = [MetadataEntry(key: "k", value: .double(.infinity))]
    }
    var added = ChangeBatch()
    if what == "reference" || what == "number" {
      let value = what == "number" ? Value.double(.nan) : reference
      added.append(.update, entity.number, 1, [(number, .null, value)])
    }
    added.append(record)
    image.append(.transaction, added.row())
    #expect(try verify(image) == 1)
    #expect(try state(image) == 2)
    #expect(try run("export", image) == 2)
  }

  /// Counts of 2^60 and more, wherever there may be a count.
  @Test(arguments: ["every-value-type", "columnar-transaction", "checkpoint-and-indexes", "pruned"])
  func countsAreNotBelieved(name: String) throws {
    let image = try LogImage.fixture(name)
    let huge: Bytes = [128, 128, 128, 128, 128, 128, 128, 128, 16]
    for frame in image.frames.indices {
      for place in stride(from: 0, to: min(image.frames[frame].payload.count, 150), by: 3) {
        var changed = image.frames[frame].payload
        changed.replaceSubrange(place...place, with: huge)
        changed.withUnsafeBytes { bytes in
          for target in [FuzzTarget.record, .block, .largeValue, .directory, .chunk, .schema] {
            target.run(bytes)
          }
        }
      }
    }
  }

  /// Packed lines of 320 MiB of one byte. The string takes minutes without optimisation; the limit
  /// itself has tests in JSONReaderTests.
  private static let packedLines: [(start: String, byte: UInt8, reason: String)] = [
    ("", 0, "line.jsonl.gz:1: found byte 0x0 where a value should be"),
    (
      #"{"n":"#, UInt8(ascii: "1"), "line.jsonl.gz:1: a number has more than 2048 characters"
    ),
    (
      #"{"changes":[{"op":"insert","entity":"E","id":"a","set":{"s":""#, UInt8(ascii: "0"),
      "line.jsonl.gz:1: a string is longer than 268435456 bytes"
    ),
  ]

  @Test(arguments: isLong ? packedLines : Array(packedLines.prefix(2)))
  func packedLinesAreBounded(start: String, byte: UInt8, reason: String) throws {
    let folder = try TemporaryFolder()
    let many = gzip(Bytes(repeating: byte, count: 16 << 20))
    var file = gzip(Bytes((start.isEmpty ? " " : start).utf8))
    for _ in 0..<20 { file += many }
    #expect(file.count < 2 << 20)
    try Data(file).write(to: folder.url("line.jsonl.gz"))
    let status = try run(
      ["import", folder.path("s.annals"), folder.path("line.jsonl.gz")],
      errors: folder.path("errors"))
    #expect(status == 1)
    let said = try String(contentsOf: folder.url("errors"), encoding: .utf8)
    #expect(said.contains(reason), "\(said)")
    #expect(!FileManager.default.fileExists(atPath: folder.path("s.annals")))
  }

  /// A gzip member that holds the bytes.
  private func gzip(_ bytes: Bytes) -> Bytes {
    var deflate = Deflate()
    var packed: Bytes = [31, 139, 8, 0, 0, 0, 0, 0, 0, 3]
    bytes.withUnsafeBytes {
      #expect(deflate.compress($0, into: &packed, limit: $0.count + 64))
    }
    for number in [bytes.withUnsafeBytes { Checksum.crc32($0) }, UInt32(bytes.count)] {
      withUnsafeBytes(of: number.littleEndian) { packed += $0 }
    }
    return packed
  }

  /// Brackets by the million: in an import, in a schema, in a value.
  @Test func nestingIsBounded() throws {
    let folder = try TemporaryFolder()
    let deep = String(repeating: "[", count: 2_000_000)
    let lines = [
      deep, #"{"changes":"# + deep, #"{"message":"# + deep, #"{"schema":{"entities":"# + deep,
      #"{"changes":[{"op":"insert","entity":"E","id":"a","set":{"x":"# + deep,
      String(repeating: #"{"a":"#, count: 500_000),
    ]
    for line in lines {
      try Data(line.utf8).write(to: folder.url("line.jsonl"))
      let status = try run(["import", folder.path("s.annals"), folder.path("line.jsonl")])
      #expect(status == 1 || status == 2)
    }
    try Data((#"{"entities":"# + deep).utf8).write(to: folder.url("schema.json"))
    let status = try run([
      "import", folder.path("s.annals"), folder.path("line.jsonl"), "--schema",
      folder.path("schema.json"),
    ])
    #expect(status == 1 || status == 2)
  }

  typealias Bytes = ContiguousArray<UInt8>

  /// A large value with other bytes than records say is lost, and not passed on.
  @Test func otherBytesThanThoseSpokenOfAreNotSalvaged() throws {
    var image = try LogImage.fixture("large-values")
    // The slot of an image that was closed names no head.
    image.isClosed = false
    let index = try #require(image.frames.firstIndex { $0.kind == FrameKind.largeValue.rawValue })
    image.frames[index].payload[image.frames[index].payload.count - 1] ^= 1
    try expectSalvaged(image, status: 1)
  }

  /// A block that says more of itself than it holds is salvaged as one that does not.
  @Test func summariesThatLieAreNotSalvaged() throws {
    var image = try LogImage.fixture("worked-example")
    image.isClosed = false
    // The span of the timestamps, behind form, number, count and the least timestamp.
    image.frames[image.frames.count - 1].payload[13] += 1
    try expectSalvaged(image, status: 0)
  }

  /// The file is wrong, and the one that a salvage makes of it is not.
  private func expectSalvaged(_ image: LogImage, status: Int32) throws {
    let folder = try TemporaryFolder()
    try Data(image.file).write(to: folder.url("f.annals"))
    #expect(try run(["verify", folder.path("f.annals")]) == 1)
    #expect(try run(["salvage", folder.path("f.annals"), folder.path("out.annals")]) == status)
    #expect(try run(["verify", folder.path("out.annals")]) == 0)
  }

  /// A file of one transaction, to be gone on with.
  private func start() throws -> LogImage { try .fixture("one-transaction") }

  private func verify(_ image: LogImage) throws -> Int32 { try run("verify", image) }

  private func state(_ image: LogImage) throws -> Int32 { try run("state", image) }

  private func run(_ command: String, _ image: LogImage) throws -> Int32 {
    let folder = try TemporaryFolder()
    try Data(image.file).write(to: folder.url("f.annals"))
    return try run([command, folder.path("f.annals")])
  }

  /// The status that the command leaves with; 128 and more if a signal ended it.
  private func run(
    _ arguments: [String], limit: Int = limit, errors: String = "/dev/null"
  ) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments =
      [
        "-c", "ulimit -c 0; ulimit -v \(limit); exec \"$0\" \"$@\" >/dev/null 2>\"$ERRORS\"",
        try built("annals").path,
      ]
      + arguments
    process.environment = [
      "SWIFT_BACKTRACE": "enable=no", "HOME": "/nonexistent", "ERRORS": errors,
    ]
    try process.run()
    process.waitUntilExit()
    return process.terminationReason == .exit
      ? process.terminationStatus : 128 + process.terminationStatus
  }
}
