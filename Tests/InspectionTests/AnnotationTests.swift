import AnnalsDescription
import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsSalvage
import AnnalsStorage
import AnnalsTestSupport
import Testing

@Suite struct AnnotationTests {
  /// The fields of all regions, in order.
  private func fields(of bytes: ContiguousArray<UInt8>) throws -> [AnnotatedField] {
    var walk = try FileWalk(bytes.opened())
    var description = FrameDescription()
    var fields: [AnnotatedField] = []
    while let region = try walk.next() {
      _ = try description.describe(region, in: &walk)
      let annotation = ByteAnnotation(vocabulary: description.vocabulary)
      try annotation.annotate(region, in: &walk) { field, _ in fields.append(field) }
    }
    return fields
  }

  /// Every byte is in exactly one field, whatever the bytes.
  private func expectCover(_ bytes: ContiguousArray<UInt8>, _ comment: Comment) throws {
    var end: UInt64 = 0
    for field in try fields(of: bytes) {
      #expect(field.offset == end, comment)
      #expect(field.length > 0, comment)
      #expect(field.isZeros || field.length <= UInt64(AnnotatedField.maximumLength), comment)
      end = field.offset + field.length
    }
    #expect(end == UInt64(bytes.count), comment)
  }

  @Test func everyByteIsExplained() throws {
    let bytes = SampleStore.complete().bytes
    try expectCover(bytes, "sound")
    for field in try fields(of: bytes) {
      #expect(!field.name.contains("cannot be read") && !field.name.contains("belong"), "\(field)")
      #expect(!field.name.contains("behind the end"), "\(field)")
    }
  }

  /// Forty lists, too short for so many openings.
  @Test func listsOfTheObjectsOfSegmentsAreExplained() throws {
    let objects = try #require(SegmentObjects([RowRange(1, 3...9)]))
    var payload: ContiguousArray<UInt8> = []
    TableCodec<SegmentObjects>.encode(Array(repeating: objects, count: 40), into: &payload)
    var file = SampleStore.small(2)
    file.append(.chunk, payload)
    try expectCover(file.bytes, "lists of objects")
    let found = try fields(of: file.bytes)
    let start = try #require(
      found.firstIndex { $0.name == "count of lists of the objects of segments" })
    #expect(found[start].value == "40")
    let lists = found[(start + 1)...].prefix(80)
    #expect(
      lists.map(\.name)
        == (0..<80).map { $0 % 2 == 0 ? "length of the list" : "objects of a segment" })
    #expect(lists.reduce(1) { $0 + $1.length } == UInt64(payload.count))
    #expect(!found.contains { $0.name.contains("cannot be read") })
  }

  @Test func everyByteOfDamageIsExplained() throws {
    let bytes = SampleStore.complete().bytes
    for index in stride(from: Int(FormatLimits.logStart), to: bytes.count, by: isLong ? 1 : 3) {
      try expectCover(bytes.flipping(bit: index % 8, ofByte: index), "byte \(index)")
    }
    for index in stride(from: 0, to: Int(FormatLimits.logStart), by: 37) {
      try expectCover(bytes.flipping(bit: index % 8, ofByte: index), "byte \(index)")
    }
    for count in 0..<bytes.count where count < 40 || count % 113 == 0 || count > 12_288 {
      try expectCover(ContiguousArray(bytes.prefix(count)), "\(count) bytes")
    }
  }

  /// Payloads of random bytes under a valid checksum: nothing in them is believed.
  @Test func randomPayloads() throws {
    var random = SeededRandom(seed: 2024)
    for round in 0..<300 {
      var file = SampleStore.small(2)
      let kind = FrameKind(rawValue: UInt8(round % 5 + 1))
      let length = Int(random.next() % 200)
      file.append(
        kind, ContiguousArray((0..<length).map { _ in UInt8(random.next() % 12) }))
      try expectCover(file.bytes, "round \(round)")
      _ = try findings(in: file.bytes)
      var cursor = try ReadableTransactions(file.bytes.opened())
      while try cursor.next() != nil {}
    }
  }
}
