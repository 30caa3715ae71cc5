import AnnalsModel
import Testing

@testable import AnnalsFormat

/// What FORMAT.md says that a reader refuses, byte for byte, beside the nearest bytes that it
/// takes.
struct RefusedBytesTests {
  private typealias Bytes = ContiguousArray<UInt8>

  private func expect(
    _ isTaken: Bool, _ bytes: [UInt8], _ what: String,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ decode: (UnsafeRawBufferPointer) throws -> Void
  ) {
    var fault: (any Error)?
    do { try bytes.withUnsafeBytes(decode) } catch { fault = error }
    #expect(
      (fault == nil) == isTaken, "\(what): \(String(describing: fault))",
      sourceLocation: sourceLocation)
    #expect(fault == nil || fault is DecodeFault, sourceLocation: sourceLocation)
  }

  /// A record by row: number 1, timestamp 0, no author, context and opening.
  private func expect(
    _ isTaken: Bool, _ what: String, head: [UInt8] = [1, 0, 0, 0, 0], details: [UInt8] = [0],
    changes: [UInt8] = [0], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    expect(isTaken, head + details + changes, what, sourceLocation: sourceLocation) {
      var batch = ChangeBatch()
      try TransactionCodec.decode($0, into: &batch)
    }
  }

  @Test func records() {
    expect(true, "nothing but a number")
    expect(false, "number 0", head: [0, 0, 0, 0, 0])
    expect(false, "an overlong number", head: [0x81, 0, 0, 0, 0, 0])
    let long = [UInt8](repeating: 0xFF, count: 9)
    expect(true, "a timestamp of 64 bits", head: [1] + long + [1, 0, 0, 0])
    expect(false, "a timestamp of 65 bits", head: [1] + long + [2, 0, 0, 0])
    expect(false, "a number of 2^63", head: Array(repeating: 0x80, count: 9) + [1, 0, 0, 0, 0])
    expect(false, "an author of 2^32", head: [1, 0, 0x80, 0x80, 0x80, 0x80, 0x10, 0, 0])
    expect(false, "bytes behind the end", changes: [0, 0])
    expect(true, "an insert", changes: [1, 4, 2, 0])
    expect(false, "a change of kind 3", changes: [1, 7, 2, 0])
    expect(false, "entity 0", changes: [1, 0, 2, 0])
    expect(false, "row 0", changes: [1, 4, 0, 0])
    expect(false, "row -1", changes: [1, 4, 1, 0])
    expect(true, "a property", changes: [1, 4, 2, 1, 1, 1, 1])
    expect(false, "a property set that ends in 0", changes: [1, 4, 2, 2, 1, 0, 1, 1])
    expect(false, "a bool of 2", changes: [1, 4, 2, 1, 1, 1, 2])
    expect(false, "a change without its bytes", changes: [2, 4, 2, 0])
    expect(true, "edits", changes: [1, 5, 2, 1, 1, 0x2B, 1, 5, 1, 1, 0x2B, 0])
    expect(false, "edits of an insert", changes: [1, 4, 2, 1, 1, 0x2B, 0])
    expect(false, "edits on one side", changes: [1, 5, 2, 1, 1, 0x2B, 0, 0])
    expect(
      false, "edits at one position",
      changes: [1, 5, 2, 1, 1, 0x2B, 2, 5, 1, 1, 5, 1, 1, 0x2B, 0])
  }

  @Test func tags() {
    let lengths: [UInt8: Int] = [
      0: 0, 1: 1, 2: 1, 3: 8, 4: 1, 5: 1, 6: 16, 7: 1, 8: 1, 9: 1, 10: 2, 11: 1, 12: 0, 0x14: 20,
      0x17: 20,
      0x18: 20, 0x19: 20,
    ]
    for tag in UInt8.min...UInt8.max {
      let bytes = [UInt8](repeating: 0, count: lengths[tag] ?? 20)
      expect(lengths[tag] != nil, "tag \(tag)", changes: [1, 4, 2, 1, 1, tag] + bytes)
    }
  }

  @Test func details() {
    expect(false, "flag 64", details: [64])
    expect(true, "names", details: [1, 1, 1, 1, 97])
    expect(false, "no names", details: [1, 1, 0])
    expect(false, "names from 0", details: [1, 0, 1, 1, 97])
    expect(false, "a name that is no UTF-8", details: [1, 1, 1, 1, 0xFF])
    let opening = [UInt8](repeating: 0, count: 10)
    expect(true, "an opening", details: [2, 1] + opening)
    expect(false, "opening 0", details: [2, 0] + opening)
    expect(true, "metadata", details: [4, 2, 1, 97, 0, 1, 98, 0])
    expect(false, "no metadata", details: [4, 0])
    expect(false, "metadata falling", details: [4, 2, 1, 98, 0, 1, 97, 0])
    expect(false, "metadata twice", details: [4, 2, 1, 97, 0, 1, 97, 0])
    expect(false, "no definitions", details: [8, 0])
    expect(true, "extensions", details: [16, 5, 6, 1, 7, 8, 0])
    expect(true, "a jump of the clock", details: [16, 2, 1, 0])
    expect(false, "a jump that says more", details: [16, 3, 1, 1, 7])
    expect(true, "an erasure", details: [16, 9, 2, 7, 1, 3, 5, 1, 2, 1, 97])
    expect(true, "one of a whole object", details: [16, 8, 2, 6, 1, 3, 5, 0, 1, 97])
    expect(false, "an erasure of nothing", details: [16, 5, 2, 3, 0, 1, 97])
    expect(false, "an erasure without a reason", details: [16, 7, 2, 5, 1, 3, 5, 0, 0])
    expect(false, "an erasure of entity 0", details: [16, 8, 2, 6, 1, 0, 5, 0, 1, 97])
    expect(false, "an erasure of row 0", details: [16, 8, 2, 6, 1, 3, 0, 0, 1, 97])
    expect(false, "an erasure of property 0", details: [16, 9, 2, 7, 1, 3, 5, 1, 0, 1, 97])
    expect(
      false, "erased properties twice", details: [16, 10, 2, 8, 1, 3, 5, 2, 2, 2, 1, 97])
    expect(
      false, "erased objects twice",
      details: [16, 11, 2, 9, 2, 3, 5, 0, 3, 5, 0, 1, 97])
    expect(true, "a group", details: [16, 3, 3, 1, 97])
    expect(false, "a group without a name", details: [16, 2, 3, 0])
    let long = [UInt8](repeating: 97, count: 255)
    expect(true, "a group of 255 bytes", details: [16, 0x82, 2, 3, 0xFF, 1] + long)
    expect(false, "a group of 256 bytes", details: [16, 0x83, 2, 3, 0x80, 2, 97] + long)
    expect(false, "a group that is not UTF-8", details: [16, 3, 3, 1, 0xFF])
    let late: [UInt8] = [9, 0, 0, 0, 0]
    expect(true, "an undo", head: late, details: [16, 5, 4, 3, 1, 8, 0])
    expect(true, "an undo of a group", head: late, details: [16, 5, 4, 3, 1, 3, 5])
    expect(false, "an undo of itself", head: late, details: [16, 5, 4, 3, 1, 9, 0])
    expect(false, "an undo up to itself", head: late, details: [16, 5, 4, 3, 1, 3, 6])
    expect(false, "an undo of transaction 0", head: late, details: [16, 5, 4, 3, 1, 0, 0])
    expect(false, "an undo without a length", head: late, details: [16, 4, 4, 2, 1, 3])
    expect(true, "a redo", head: late, details: [16, 4, 4, 2, 2, 8])
    expect(false, "a redo of itself", head: late, details: [16, 4, 4, 2, 2, 9])
    expect(false, "a redo that says more", head: late, details: [16, 5, 4, 3, 2, 8, 0])
    expect(false, "an undo of kind 0", head: late, details: [16, 4, 4, 2, 0, 8])
    expect(false, "an undo of kind 3", head: late, details: [16, 4, 4, 2, 3, 8])
    expect(false, "an undo of nothing", head: late, details: [16, 2, 4, 0])
    expect(true, "a migration", details: [16, 3, 5, 1, 97])
    expect(true, "two migrations", details: [16, 5, 5, 3, 97, 10, 98])
    expect(false, "a migration without a name", details: [16, 2, 5, 0])
    expect(false, "a second one without a name", details: [16, 4, 5, 2, 97, 10])
    expect(false, "a migration of two lines", details: [16, 5, 5, 3, 97, 13, 98])
    expect(true, "a migration of 255 bytes", details: [16, 0x82, 2, 5, 0xFF, 1] + long)
    expect(false, "a migration of 256 bytes", details: [16, 0x83, 2, 5, 0x80, 2, 97] + long)
    expect(false, "a migration that is not UTF-8", details: [16, 3, 5, 1, 0xFF])
    expect(false, "an erasure that says more", details: [16, 9, 2, 7, 1, 3, 5, 0, 1, 97, 0])
    expect(false, "erased metadata", details: [4, 1, 1, 97, 12])
    expect(false, "no extensions", details: [16, 0])
    expect(false, "extensions twice", details: [16, 4, 3, 0, 3, 0])
    expect(false, "an extension beyond its area", details: [16, 2, 3, 1])
    expect(true, "a gap", details: [32, 1, 0, 0, 0, 0, 0])
    expect(false, "a gap from 0", details: [32, 0, 0, 0, 0, 0, 0])
    expect(false, "a gap from behind itself", details: [32, 2, 0, 0, 0, 0, 0])
    expect(false, "a gap with flag 4", details: [32, 1, 4, 0, 0, 0, 0])
  }

  /// One entity: number, flags, name, next number, and three lists.
  private func expect(
    _ isTaken: Bool, _ what: String, start: [UInt8] = [1, 0, 1, 65], next: [UInt8] = [9],
    attributes: [UInt8] = [0], relationships: [UInt8] = [0], indexes: [UInt8] = [0],
    extensions: [UInt8] = [], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let bytes = [1] + start + next + attributes + relationships + indexes + extensions
    expect(isTaken, bytes, what, sourceLocation: sourceLocation) {
      var reader = ByteReader($0)
      _ = try SchemaCodec.decode(&reader)
      try reader.expectEnd()
    }
  }

  @Test func derivations() {
    // Item 1 of an attribute's area.
    func expect(
      _ isTaken: Bool, _ what: String, _ item: [UInt8],
      sourceLocation: SourceLocation = #_sourceLocation
    ) {
      let count = UInt8(item.count)
      let start: [UInt8] = [1, 1, 1, 97, 2, 64]
      self.expect(
        isTaken, what, attributes: start + [count + 2, 1, count] + item,
        sourceLocation: sourceLocation)
    }
    expect(true, "a count", [1, 2, 3, 0])
    expect(true, "a sum", [2, 0, 3, 1, 4])
    expect(true, "a function", [7, 1, 2, 3, 4])
    expect(true, "a kind of a later version", [8, 255])
    expect(false, "no kind", [])
    expect(false, "kind 0", [0, 0])
    expect(false, "a count that ends early", [1, 2, 3])
    expect(false, "bytes behind a sum", [2, 0, 3, 1, 4, 0])
    expect(false, "a property too few", [6, 2, 1])
    expect(false, "version 0", [7, 0, 1, 1])
    expect(false, "a version of 2^63", [7] + [UInt8](repeating: 0x80, count: 9) + [1, 1, 1])
    expect(false, "an entity of 2^32", [1, 0x80, 0x80, 0x80, 0x80, 0x10, 3, 0])
  }

  @Test func definitions() {
    expect(true, "an entity")
    expect(false, "entity 0", start: [0, 0, 1, 65])
    expect(false, "an entity with flag 8", start: [1, 8, 1, 65])
    expect(false, "a name that is no UTF-8", start: [1, 0, 1, 0xFF])
    expect(true, "next 65,536", next: [0x80, 0x80, 4])
    expect(false, "next 65,537", next: [0x81, 0x80, 4])
    expect(true, "an attribute", attributes: [1, 8, 1, 97, 4, 0])
    expect(false, "an attribute with the next number", attributes: [1, 9, 1, 97, 6, 0])
    expect(false, "attribute 0", attributes: [1, 0, 1, 97, 6, 0])
    expect(false, "attributes falling", attributes: [2, 2, 1, 97, 6, 0, 1, 1, 98, 6, 0])
    expect(false, "type 0", attributes: [1, 1, 1, 97, 0, 0])
    expect(false, "type 12", attributes: [1, 1, 1, 97, 12, 0])
    expect(true, "type 16", attributes: [1, 1, 1, 97, 16, 0])
    expect(false, "type 18", attributes: [1, 1, 1, 97, 18, 0])
    expect(false, "an attribute with flag 128", attributes: [1, 1, 1, 97, 6, 128])
    expect(true, "extensions of one", attributes: [1, 1, 1, 97, 6, 64, 2, 7, 0])
    expect(false, "no extensions of one", attributes: [1, 1, 1, 97, 6, 64, 0])
    expect(true, "a default", attributes: [1, 1, 1, 97, 4, 16, 2, 2])
    expect(true, "a validation", attributes: [1, 1, 1, 97, 4, 32, 3, 1, 2, 2])
    expect(false, "bytes behind its rules", attributes: [1, 1, 1, 97, 4, 32, 4, 1, 2, 2, 0])
    expect(false, "rules beyond its end", attributes: [1, 1, 1, 97, 4, 32, 2, 1, 2, 2])
    expect(false, "a validation of nothing", attributes: [1, 1, 1, 97, 4, 32, 1, 0])
    expect(true, "a validation with flag 32", attributes: [1, 1, 1, 97, 4, 32, 1, 32])
    expect(true, "what flag 128 says", attributes: [1, 1, 1, 97, 4, 32, 5, 129, 2, 2, 9, 9])
    expect(false, "no value allowed", attributes: [1, 1, 1, 97, 4, 32, 2, 16, 0])
    expect(true, "a relationship", relationships: [1, 2, 1, 98, 3, 1])
    expect(true, "extensions of one", relationships: [1, 2, 1, 98, 8, 1, 2, 8, 0])
    expect(true, "a required one", relationships: [1, 2, 1, 98, 8, 1, 2, 1, 0])
    expect(false, "a required one with bytes", relationships: [1, 2, 1, 98, 8, 1, 3, 1, 1, 0])
    expect(false, "no extensions of one", relationships: [1, 2, 1, 98, 8, 1, 0])
    expect(false, "a relationship with flag 16", relationships: [1, 2, 1, 98, 16, 1])
    expect(true, "an index", indexes: [1, 8, 3, 1, 99, 1, 0, 1, 1, 1])
    expect(false, "an index beyond its end", indexes: [1, 7, 3, 1, 99, 1, 0, 1, 1, 1])
    expect(false, "bytes behind it", indexes: [1, 9, 3, 1, 99, 1, 0, 1, 1, 1, 0])
    expect(true, "extensions of one", indexes: [1, 11, 3, 1, 99, 2, 0, 1, 1, 1, 2, 7, 0])
    expect(false, "no extensions of one", indexes: [1, 9, 3, 1, 99, 2, 0, 1, 1, 1, 0])
    expect(true, "a partial index", indexes: [1, 12, 3, 1, 99, 4, 0, 1, 1, 1, 1, 1, 1, 0])
    expect(false, "a test too few", indexes: [1, 12, 3, 1, 99, 4, 0, 1, 1, 1, 2, 1, 1, 0])
    expect(false, "no test of one", indexes: [1, 9, 3, 1, 99, 4, 0, 1, 1, 1, 0])
    expect(false, "less than null", indexes: [1, 12, 3, 1, 99, 4, 0, 1, 1, 1, 1, 1, 3, 0])
    expect(
      false, "bytes behind its tests", indexes: [1, 13, 3, 1, 99, 4, 0, 1, 1, 1, 1, 1, 1, 0, 0])
    // What only later versions know is passed over, but for number and name.
    expect(true, "an index with flag 16", indexes: [1, 6, 3, 1, 99, 16, 0, 255])
    expect(true, "a comparison 7", indexes: [1, 12, 3, 1, 99, 4, 0, 1, 1, 1, 1, 1, 7, 0])
    expect(true, "collation 1", indexes: [1, 5, 3, 1, 99, 1, 1])
    expect(true, "nulls as the greatest", indexes: [1, 8, 3, 1, 99, 1, 0, 1, 1, 2])
    expect(true, "an element with flag 4", indexes: [1, 9, 3, 1, 99, 1, 0, 1, 1, 4, 255])
    expect(false, "one without a number", indexes: [1, 5, 0, 1, 99, 4, 0])
    expect(false, "one without a collation", indexes: [1, 4, 3, 1, 99, 4])
    let extended: [UInt8] = [1, 4, 1, 65]
    expect(true, "extensions", start: extended, extensions: [5, 3, 1, 7, 4, 0])
    expect(false, "extensions unannounced", extensions: [5, 3, 1, 7, 4, 0])
    expect(false, "no extension area", start: extended)
    expect(false, "no extensions", start: extended, extensions: [0])
    expect(false, "extensions falling", start: extended, extensions: [4, 4, 0, 3, 0])
    expect(false, "extensions twice", start: extended, extensions: [4, 3, 0, 3, 0])
    expect(false, "an extension beyond its area", start: extended, extensions: [2, 3, 1])
    expect(false, "an area beyond the end", start: extended, extensions: [3, 3, 0])
    expect(false, "bytes behind the area", start: extended, extensions: [2, 3, 0, 0])
    expect(false, [2] + [2, 0, 1, 65, 1, 0, 0, 0] + [1, 0, 1, 66, 1, 0, 0, 0], "entities falling") {
      var reader = ByteReader($0)
      _ = try SchemaCodec.decode(&reader)
    }
  }

  @Test func rulesOfReferences() {
    expect(true, "a delete rule", relationships: [1, 2, 1, 98, 8, 1, 3, 3, 1, 3])
    expect(false, "a delete rule 0", relationships: [1, 2, 1, 98, 8, 1, 3, 3, 1, 0])
    expect(true, "a delete rule that is not known", relationships: [1, 2, 1, 98, 8, 1, 3, 3, 1, 9])
    expect(false, "a delete rule without a byte", relationships: [1, 2, 1, 98, 8, 1, 2, 3, 0])
    expect(true, "an inverse", relationships: [1, 2, 1, 98, 8, 1, 3, 5, 1, 99])
    expect(false, "an inverse that is no text", relationships: [1, 2, 1, 98, 8, 1, 3, 5, 1, 255])
    expect(true, "a least count", relationships: [1, 2, 1, 98, 9, 1, 3, 7, 1, 4])
    expect(true, "the same of both", relationships: [1, 2, 1, 98, 9, 1, 6, 7, 1, 4, 9, 1, 4])
    expect(
      false, "the least above the most", relationships: [1, 2, 1, 98, 9, 1, 6, 7, 1, 6, 9, 1, 4])
    expect(false, "a least count of 0", relationships: [1, 2, 1, 98, 9, 1, 3, 7, 1, 0])
    expect(false, "a negative least count", relationships: [1, 2, 1, 98, 9, 1, 3, 7, 1, 3])
    expect(false, "a negative greatest one", relationships: [1, 2, 1, 98, 9, 1, 3, 9, 1, 1])
    expect(false, "a count without a number", relationships: [1, 2, 1, 98, 9, 1, 2, 9, 0])
    expect(false, "bytes behind a count", relationships: [1, 2, 1, 98, 9, 1, 4, 9, 2, 4, 4])
    expect(false, "a count of a to-one", relationships: [1, 2, 1, 98, 8, 1, 3, 9, 1, 4])
  }

  @Test func partialDefinitions() {
    func expect(_ isTaken: Bool, _ what: String, _ rest: [UInt8], flags: UInt8 = 8) {
      self.expect(isTaken, [1, 1, flags, 1, 65, 9] + rest, what) {
        var reader = ByteReader($0)
        _ = try SchemaCodec.decodeChanges(&reader)
        try reader.expectEnd()
      }
    }
    let relationship: [UInt8] = [1, 4, 1, 66, 0, 1]
    expect(true, "nothing new", [0, 0, 0, 0])
    expect(true, "a relationship, two dropped", [0] + relationship + [0, 2, 3, 5])
    expect(false, "no list of what is dropped", [0, 0, 0])
    expect(false, "dropped ones falling", [0, 0, 0, 2, 5, 3])
    expect(false, "dropped twice", [0, 0, 0, 2, 5, 5])
    expect(false, "dropped and new", [0] + relationship + [0, 1, 4])
    expect(false, "dropped and never given out", [0, 0, 0, 1, 9])
    expect(false, "number 0 dropped", [0, 0, 0, 1, 0])
    expect(false, "flag 16", [0, 0, 0, 0], flags: 16)
    self.expect(false, "partial in a directory", start: [1, 8, 1, 65], indexes: [0, 0])
  }

  @Test func boxIndexes() {
    expect(true, "a box index", indexes: [1, 10, 3, 1, 99, 8, 0, 2, 1, 0, 2, 0])
    expect(false, "bytes behind a box index", indexes: [1, 11, 3, 1, 99, 8, 0, 2, 1, 0, 2, 0, 0])
    expect(
      true, "a partial box index",
      indexes: [1, 14, 3, 1, 99, 12, 0, 2, 1, 0, 2, 0, 1, 1, 1, 0])
    // Of a later version.
    expect(true, "a box index of one", indexes: [1, 9, 3, 1, 99, 8, 0, 1, 1, 0, 255])
    expect(true, "a descending box index", indexes: [1, 11, 3, 1, 99, 8, 0, 2, 1, 1, 2, 0, 255])
    expect(true, "a unique box index", indexes: [1, 11, 3, 1, 99, 9, 0, 2, 1, 0, 2, 0, 255])
  }

  @Test func numbersOfAnEntityAreDistinct() {
    let attribute: [UInt8] = [1, 2, 1, 97, 6, 0]
    expect(false, "twice", attributes: attribute, relationships: [1, 2, 1, 98, 0, 1])
    expect(false, "twice", attributes: attribute, indexes: [1, 8, 2, 1, 99, 1, 0, 1, 2, 0])
    expect(
      false, "twice", relationships: [1, 4, 1, 98, 0, 1], indexes: [1, 8, 4, 1, 99, 1, 0, 1, 4, 0])
  }

  @Test func piecesOfLargeValues() {
    for (isTaken, bytes) in [
      (true, [1, 3, 1, 8, 7, 7]), (false, [0, 3, 1, 8, 7, 7]), (false, [1, 3, 4]),
      (false, [1, 3, 2, 8, 7, 7]), (true, [1, 3, 3, 0, 0]), (false, [1, 3, 3]),
      (false, [1, 3, 3, 0]),
      (false, [1, 3, 3, 0, 0, 7]), (false, [1, 3, 3, 0, 0, 0]),
      (true, [1, 3, 0, 0, 0, 4, 7]), (true, [1, 3, 0, 0, 2, 5, 0, 4, 7]),
      (false, [1, 3, 0, 0, 0, 16, 7, 7, 7, 7]), (false, [1, 3, 0, 0, 3, 5, 0, 4, 7]),
      (false, [1, 3, 0]), (false, [1, 3, 0, 0]), (true, [1, 0, 0, 0, 0, 0]),
      (false, [1, 0, 0, 0, 0]),
      // The bytes fill their section, which is of a known compression.
      (false, [1, 3, 1, 8, 7]), (false, [1, 3, 1, 8, 7, 7, 7]), (false, [1, 3, 1, 10, 7, 7]),
      // "aaa", deflated; then with another length, cut, and with more behind it.
      (true, [1, 3, 0, 0, 0, 13, 5, 0x4B, 0x4C, 0x4C, 0x04, 0x00]),
      (false, [1, 3, 0, 0, 0, 9, 5, 0x4B, 0x4C, 0x4C, 0x04, 0x00]),
      (false, [1, 3, 0, 0, 0, 13, 4, 0x4B, 0x4C, 0x4C, 0x04]),
      (false, [1, 3, 0, 0, 0, 13, 5, 0x4B, 0x4C, 0x4C, 0x04, 0x00, 0]),
      // A base, of which there may be more bytes than of the value; one that is not before it.
      (true, [2, 3, 0, 1, 0, 20, 2, 7, 2, 7, 2]), (false, [2, 3, 0, 2, 0, 4, 7]),
      (false, [2, 3, 3, 1, 0]),
    ] as [(Bool, [UInt8])] {
      expect(isTaken, bytes, "\(bytes)") { _ = try LargeValueCodec.decode($0) }
    }
  }

  @Test func retentions() {
    let greatest = [UInt8](repeating: 0xFF, count: 8) + [0x3F]
    let beyond = [UInt8](repeating: 0x80, count: 8) + [0x40]
    for (isTaken, bytes) in [
      (true, [0]), (true, [1, 1]), (true, [2, 5]), (true, [3, 0xAC, 2, 5]), (true, [1] + greatest),
      (false, []), (false, [4]), (false, [7, 1, 1]), (false, [0x80]), (false, [1]),
      (false, [1, 0]),
      (false, [2, 0]), (false, [3, 1]), (false, [3, 0, 1]), (false, [3, 1, 0]), (false, [0, 0]),
      (false, [1, 1, 0]), (false, [1, 0x81, 0]), (false, [1] + beyond),
    ] as [(Bool, [UInt8])] {
      expect(isTaken, bytes, "\(bytes)") {
        _ = try SideRecord($0, of: .retention, flags: .skippable)
      }
    }
    expect(false, [1, 1], "not skippable") { _ = try SideRecord($0, of: .retention, flags: []) }
  }

  /// A payload of records, each sized: number, timestamp, author, context, opening, details, and a
  /// list of changes.
  @Test func tombstones() {
    let delete: [UInt8] = [3, 0, 0, 0, 0, 0, 1, 6, 2, 0]
    let kept: [UInt8] = [3, 0, 0, 0, 0, 0, 1, 6, 2, 1, 1, 4, 1, 97]
    func payload(_ records: [[UInt8]]) -> [UInt8] {
      records.reduce(into: []) { $0 += [UInt8($1.count)] + $1 }
    }
    func expect(_ isTaken: Bool, _ what: String, bytes: [UInt8]) {
      self.expect(isTaken, bytes, what) {
        var batch = ChangeBatch()
        try TombstoneCodec.decode($0, flags: .skippable, into: &batch)
      }
    }
    func expect(_ isTaken: Bool, _ what: String, _ records: [UInt8]...) {
      expect(isTaken, what, bytes: payload(records))
    }
    expect(true, "a delete", delete)
    expect(true, "one with a value", kept)
    expect(true, "two of a transaction", delete, kept)
    expect(true, "two transactions", delete, [4] + kept.dropFirst())
    expect(true, "two deletes in a record", [3, 0, 0, 0, 0, 0, 2, 6, 2, 0, 6, 2, 0])
    expect(false, "nothing")
    expect(false, "an empty record", [])
    expect(false, "an empty record behind", delete, [])
    expect(false, "transactions falling", [4] + kept.dropFirst(), delete)
    expect(false, "transaction 0", [0] + delete.dropFirst())
    expect(false, "no delete", [3, 0, 0, 0, 0, 0, 0])
    expect(false, "an insert", [3, 0, 0, 0, 0, 0, 1, 4, 2, 0])
    expect(false, "an update", [3, 0, 0, 0, 0, 0, 1, 5, 2, 0])
    expect(false, "an insert behind a delete", [3, 0, 0, 0, 0, 0, 2, 6, 2, 0, 4, 2, 0])
    expect(false, "a name", [3, 0, 0, 0, 0, 1, 1, 1, 1, 97, 1, 6, 2, 0])
    expect(false, "metadata", [3, 0, 0, 0, 0, 4, 1, 1, 97, 0, 1, 6, 2, 0])
    expect(false, "a jump of the clock", [3, 0, 0, 0, 0, 16, 2, 1, 0, 1, 6, 2, 0])
    expect(false, "a byte behind the changes", delete + [0])
    expect(false, "a record beyond the end", bytes: [11] + delete)
    expect(false, "a record that is cut", bytes: [9] + delete)
    expect(false, "entity 0", [3, 0, 0, 0, 0, 0, 1, 2, 2, 0])
    expect(false, "row 0", [3, 0, 0, 0, 0, 0, 1, 6, 0, 0])
    self.expect(false, payload([delete]), "not skippable") {
      var batch = ChangeBatch()
      try TombstoneCodec.decode($0, flags: [], into: &batch)
    }
  }

  /// What a base says of tombstones: a number, and references to their frames.
  @Test func namedTombstones() {
    let frame: [UInt8] = [0x80, 0x60, 9, 1, 2, 3, 4, 0, 1]
    let next: [UInt8] = [0xA8, 0x60, 9, 1, 2, 3, 4, 1, 2]
    func expect(_ isTaken: Bool, _ what: String, _ item: [UInt8]...) {
      for isBase in [true, false] {
        var directory = CheckpointDirectory(number: 9)
        directory.isBase = isBase
        ExtensionArea.append(6, Bytes(item.joined()), to: &directory.extensions)
        self.expect(isTaken && isBase, Array(directory.encode()), what) {
          _ = try CheckpointDirectory.decode($0)
        }
      }
    }
    expect(true, "none", [4, 0])
    expect(true, "a frame", [4, 1], frame)
    expect(true, "two", [0, 2], frame, next)
    expect(true, "all up to the base", [9, 0])
    expect(false, "all up to behind the base", [10, 0])
    expect(false, "nothing")
    expect(false, "no list", [4])
    expect(false, "a byte more", [4, 1], frame, [0])
    expect(false, "one too few", [4, 2], frame)
    expect(false, "falling", [4, 2], next, frame)
    expect(false, "not from the first on", [4, 1], next)
    expect(false, "twice", [4, 2], frame, frame)
    expect(false, "none in a frame", [4, 1], Array(frame.dropLast()), [0])
    expect(false, "frames that overlap", [4, 2], frame, [0x88, 0x60], Array(next.dropFirst(2)))
    expect(false, "no place of a frame", [4, 1, 0x81], Array(frame.dropFirst()))
  }

  /// Bytes of a root slot changed, its checksum made to fit.
  @Test func slots() {
    let seed = FrameSeed(store: RawUUID(high: 1, low: 2), generation: 1)
    var slot = RootSlot(sequence: 2, durableMark: 16_384, head: 7, markChecksum: 1)
    slot.checkpointOffset = 12_288
    slot.checkpointNumber = 5
    let sound = slot.encode(seed: seed)
    for (isTaken, offset, byte) in [
      (true, 8, 4), (false, 0, 0x61), (false, 8, 0), (false, 8, 3), (false, 16, 1),
      (false, 17, 0x20),
      (false, 17, 0x40), (true, 17, 0x38), (false, 24, 8), (false, 31, 0x80), (false, 32, 4),
      (false, 33, 0x2F), (false, 40, 4), (true, 48, 9), (false, 53, 0x3F), (true, 53, 0x41),
      (false, 60, 1), (false, 63, 1), (false, 64, 0x89), (false, 232, 1), (false, 239, 0x80),
      (true, 240, 1), (true, 247, 1),
      (false, 248, 1), (false, 4091, 1),
    ] as [(Bool, Int, UInt8)] {
      var bytes = Bytes(sound.prefix(4092))
      bytes[offset] = byte
      bytes.append(fixed: bytes.withUnsafeBytes { seed.checksum($0, at: 4096) })
      expect(isTaken, Array(bytes), "byte \(offset) is \(byte)") {
        _ = try RootSlot.decode($0, index: 0, seed: seed)
      }
    }
  }
}
