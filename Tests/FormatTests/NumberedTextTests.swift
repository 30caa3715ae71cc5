import AnnalsModel
import AnnalsTestSupport
import Testing

@testable import AnnalsFormat

/// Texts as patterns and numbers.
struct NumberedTextTests {
  private static let layout: UInt8 = 3

  /// The bytes of a column of these texts.
  private func encoded(_ texts: [String]) -> ContiguousArray<UInt8> {
    var arena: ContiguousArray<UInt8> = []
    let cells = texts.map { ValueCell(.string($0), appendingTo: &arena) }
    var bytes: ContiguousArray<UInt8> = []
    arena.withUnsafeBytes { arena in
      cells.withUnsafeBufferPointer { CellColumn.encode($0, in: arena, into: &bytes) }
    }
    return bytes
  }

  private func decoded(_ bytes: ContiguousArray<UInt8>, count: Int) throws -> [Value] {
    var arena = ContiguousArray<UInt8>([1, 2, 3])
    var cells = [ValueCell](repeating: .null, count: count)
    try bytes.withUnsafeBytes { bytes in
      try cells.withUnsafeMutableBufferPointer { output in
        var reader = ByteReader(bytes)
        var column = CellReader(arenaLength: arena.count)
        try column.decode(&reader, into: output, arena: &arena)
        try reader.expectEnd()
      }
    }
    return arena.withUnsafeBytes { arena in cells.map { $0.value(in: arena) } }
  }

  private func expectSame(
    _ texts: [String], layout: UInt8? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let bytes = encoded(texts)
    let read = try decoded(bytes, count: texts.count)
    #expect(read == texts.map { .string($0) }, sourceLocation: sourceLocation)
    if let layout { #expect(bytes[1] == layout, sourceLocation: sourceLocation) }
  }

  @Test func whatTextsHaveInCommonIsWrittenOnce() throws {
    let keys = (0..<500).map { "\($0 + 4_711)@\($0 % 7 == 0 ? "ben" : "anna")" }
    try expectSame(keys, layout: NumberedTextTests.layout)
    #expect(encoded(keys).count < 200)
    let images = (0..<500).map { number in
      let digits = String(1_000_000 + number * 37).dropFirst()
      return "img-\(digits).png"
    }
    try expectSame(images, layout: NumberedTextTests.layout)
    #expect(encoded(images).count < 100)
    // The first digits are the number of these, the last of those.
    let actors = (0..<500).map { "\($0)@9654bd41" }
    let pages = (0..<500).map { "https://host1.example/v2/page-\($0)" }
    for texts in [actors, pages] {
      try expectSame(texts, layout: NumberedTextTests.layout)
      #expect(encoded(texts).count < 100)
    }
    // Among distinct values, and in a pattern that some do not have.
    let again = (0..<500).map { "page \($0 % 101)" }
    #expect(encoded(again)[1] == 2 && encoded(again)[3] == NumberedTextTests.layout)
    try expectSame(again)
    try expectSame((0..<200).map { $0 % 9 == 0 ? "" : "no. \($0)" }, layout: 3)
  }

  /// Zeros in front are part of a text, also behind one of the same pattern without.
  @Test func zerosInFrontStay() throws {
    let zeros = ["n 007", "n 0", "n 00", "n 7", "n 0007", "n 70", "n 000"]
    let numbers = (1...200).map { "n \($0 * 7_919 % 100_003)" }
    for place in [0, 1, 50, 193] {
      for zero in zeros {
        var texts = numbers
        texts[place] = zero
        try expectSame(texts, layout: NumberedTextTests.layout)
      }
      try expectSame(
        Array(numbers[..<place] + zeros + numbers[(place + 7)...]), layout: NumberedTextTests.layout
      )
    }
  }

  @Test func otherTextsAreAsTheyWere() throws {
    for texts in [
      (0..<500).map { number in "\(number.hashed) \(number.hashed &+ 1) words" },
      (0..<500).map { "version \($0 % 17).\($0 / 17).\($0 % 13)-\($0.hashed % 99)" },
      (0..<500).map { _ in "the same" }
        + (0..<500).map { "\($0)" + String(repeating: "x", count: 300) },
      (0..<15).map { "\($0)@anna" },
    ] {
      try expectSame(texts)
      #expect(encoded(texts)[1] != NumberedTextTests.layout)
    }
  }

  /// Zeros before a number, numbers that are too long, texts without one: exact to the byte.
  @Test(arguments: 0..<40 as Range<UInt64>) func anyTexts(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    func pick(_ list: [String]) -> String { list[random.below(list.count)] }
    func number() -> String {
      let length = pick(["1", "2", "3", "6", "17", "18", "19", "40"])
      let digits = (0..<(Int(length) ?? 1)).map { _ in pick(["0", "0", "1", "5", "9"]) }
      return pick(["0", "", digits.joined(), digits.joined(), "7", "007", "999999999999999999"])
    }
    let prefixes = (0..<1 + random.below(4)).map {
      pick(["", "a", "a1", "\u{0}", "é", "img-"]) + "\($0)"
    }
    let suffixes = ["", "@anna", "9", "0", ".png"].shuffled(using: &random).prefix(2)
    let texts = (0..<20 + random.below(300)).map { _ in
      pick(prefixes) + number() + pick(Array(suffixes))
    }
    try expectSame(texts)
  }

  @Test func nothingDamagedIsTaken() throws {
    let texts =
      (0..<40).map { "img-\($0 % 3)-\(String(1_000 + $0 * 7).dropFirst()).png" } + ["none"]
    let bytes = encoded(texts)
    #expect(bytes[1] == NumberedTextTests.layout)
    for count in 0..<bytes.count {
      #expect(throws: DecodeFault.self) {
        try decoded(ContiguousArray(bytes.prefix(count)), count: 41)
      }
    }
    for bit in 0..<bytes.count * 8 {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      // It throws, or these are other values: nothing else happens.
      if let values = try? decoded(flipped, count: 41) { #expect(values.count == 41) }
    }
  }

  /// What a column may say that no encoder does.
  @Test(
    arguments: [
      ([0], nil), ([3], nil),
      // One pattern "a", "b"; of each case the counts of digits, the indices, the numbers.
      ([1, 0, 2, 2, 97, 0, 2, 2, 98, 2, 4, 2, 0, 0, 2, 10, 24], ["a05b", "a12b"]),
      ([1, 0, 2, 2, 97, 0, 2, 2, 98, 2, 0, 2, 0, 0], ["ab", "ab"]),
      (
        [1, 0, 2, 2, 97, 0, 2, 2, 98, 2, 36, 2, 0, 0, 2, 0, 24],
        ["a000000000000000000b", "a000000000000000012b"]
      ),
      ([1, 0, 2, 2, 97, 0, 2, 2, 98, 2, 38, 2, 0, 0, 2, 0, 24], nil),
      ([1, 0, 2, 2, 97, 0, 2, 2, 98, 2, 1, 2, 0, 0, 2, 0, 24], nil),
      ([1, 0, 2, 2, 97, 0, 2, 2, 98, 2, 2, 2, 0, 2, 2, 0, 24], nil),
      ([1, 0, 2, 2, 97, 0, 2, 2, 98, 2, 2, 2, 0, 1, 2, 0, 24], nil),
      ([1, 0, 2, 2, 97, 0, 2, 2, 98, 2, 2, 2, 0, 0, 2, 1, 24], nil),
      ([1, 2, 1, 0, 2, 2, 97, 0, 2, 2, 98, 2, 2, 2, 0, 0, 2, 0, 24], nil),
      ([1, 3, 1, 0, 2, 2, 97, 0, 2, 2, 98, 2, 2, 2, 0, 0, 2, 0, 24], nil),
    ] as [([UInt8], [String]?)])
  func whatIsSaidIsChecked(bytes: [UInt8], texts: [String]?) throws {
    let column = ContiguousArray([ValueTag.string.rawValue, NumberedTextTests.layout] + bytes)
    guard let texts else {
      #expect(throws: DecodeFault.self) { try decoded(column, count: 2) }
      return
    }
    #expect(try decoded(column, count: 2) == texts.map { .string($0) })
  }

  /// A pattern of a megabyte, in thousands of texts, is refused before anything is made.
  @Test func whatIsTooMuchIsRefused() throws {
    var bytes: ContiguousArray<UInt8> = [ValueTag.string.rawValue, NumberedTextTests.layout, 1]
    let long = ContiguousArray(repeating: UInt8(97), count: 1 << 20)
    bytes.append(0)
    bytes.append(2)
    bytes.append(zigzag: Int64(long.count))
    bytes += long
    bytes += [0, 2, 0, 2, 0, 0, 0, 0]
    #expect(throws: DecodeFault.self) { try decoded(bytes, count: 4_096) }
  }
}

extension Int {
  /// A number without a pattern.
  fileprivate var hashed: Int { Int(mix(UInt64(self)) >> 16) }
}
