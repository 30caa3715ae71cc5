import AnnalsModel
import AnnalsTestSupport
import Testing

@testable import AnnalsFormat

struct ByteReaderTests {
  private static let tooWide = DecodeFault.invalid(at: 0, reason: "a number of more than 64 bits")

  @Test(
    arguments: [
      (UInt64(0), [0]), (1, [1]), (127, [127]), (128, [0x80, 1]), (300, [0xAC, 2]),
      (16_383, [0xFF, 0x7F]), (16_384, [0x80, 0x80, 1]),
      (UInt64.max, [255, 255, 255, 255, 255, 255, 255, 255, 255, 1]),
    ] as [(UInt64, [UInt8])])
  func variableLengthIntegers(value: UInt64, encoded: [UInt8]) throws {
    var bytes: ContiguousArray<UInt8> = []
    bytes.append(varInt: value)
    #expect(Array(bytes) == encoded)
    #expect(VarInt.length(value) == encoded.count)
    let read = try bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      let value = try reader.readVarInt()
      try reader.expectEnd()
      return value
    }
    #expect(read == value)
  }

  @Test(
    arguments: [
      ([0x80, 0], .invalid(at: 0, reason: "an overlong number")),
      ([0xFF, 0x80, 0], .invalid(at: 0, reason: "an overlong number")),
      ([0x80], .truncated(at: 0, needed: 1)),
      ([], .truncated(at: 0, needed: 1)),
      (Array(repeating: 255, count: 9) + [2], ByteReaderTests.tooWide),
      (Array(repeating: 255, count: 10), ByteReaderTests.tooWide),
      (Array(repeating: 128, count: 9) + [0], .invalid(at: 0, reason: "an overlong number")),
    ] as [([UInt8], DecodeFault)])
  func refusedIntegers(encoded: [UInt8], fault: DecodeFault) {
    #expect(throws: fault) {
      try encoded.withUnsafeBytes { bytes in
        var reader = ByteReader(bytes)
        _ = try reader.readVarInt()
      }
    }
  }

  /// Eight bytes at a time where there are as many, one at a time before the end.
  @Test(arguments: 0...12)
  func integersWithBytesBehind(count: Int) throws {
    for shift in UInt64(0)...63 {
      for value in [1 << shift, UInt64.max >> shift, 0x5555_5555_5555_5555 >> shift] {
        var bytes: ContiguousArray<UInt8> = []
        bytes.append(varInt: value)
        let length = bytes.count
        bytes.append(contentsOf: repeatElement(0xFF, count: count))
        try bytes.withUnsafeBytes { bytes in
          var reader = ByteReader(bytes)
          let read = try reader.readVarInt()
          #expect(read == value)
          #expect(reader.offset == length)
        }
        guard length < VarInt.maximumLength else { continue }
        // The same number in one byte more.
        bytes[length - 1] |= 0x80
        bytes.insert(0, at: length)
        #expect(throws: DecodeFault.invalid(at: 0, reason: "an overlong number")) {
          try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            _ = try reader.readVarInt()
          }
        }
      }
    }
  }

  @Test(arguments: [0, -1, 1, -2, 63, -64, 64, Int64.max, Int64.min])
  func zigzag(value: Int64) {
    #expect(VarInt.unzigzag(VarInt.zigzag(value)) == value)
    if (-64...63).contains(value) { #expect(VarInt.length(VarInt.zigzag(value)) == 1) }
  }

  @Test
  func lengthsAreCheckedBeforeUse() {
    let bytes: [UInt8] = [5, 1, 2, 3]
    bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      #expect(throws: DecodeFault.truncated(at: 0, needed: 2)) {
        _ = try reader.readCount(limit: 100)
      }
      reader = ByteReader(bytes)
      #expect(throws: DecodeFault.tooLarge(at: 0, limit: 4)) { _ = try reader.readCount(limit: 4) }
      reader = ByteReader(bytes)
      #expect(throws: DecodeFault.truncated(at: 0, needed: Int.max - 4)) {
        _ = try reader.readBytes(Int.max)
      }
      #expect(throws: (any Error).self) { _ = try reader.readBytes(-1) }
    }
  }

  @Test
  func textMustBeUTF8() {
    let bytes: [UInt8] = [2, 0xC3, 0x28]
    #expect(throws: DecodeFault.invalid(at: 0, reason: "text that is not UTF-8")) {
      try bytes.withUnsafeBytes { bytes in
        var reader = ByteReader(bytes)
        _ = try reader.readString()
      }
    }
  }

  @Test
  func checksumIsThatOfZlib() {
    // The check value of CRC-32, and what the format starts from.
    let check = Array("123456789".utf8).withUnsafeBytes { Checksum.crc32($0) }
    #expect(check == 0xCBF4_3926)
    let halves = Array("1234".utf8).withUnsafeBytes { Checksum.crc32($0) }
    let whole = Array("56789".utf8).withUnsafeBytes { Checksum.crc32($0, startingFrom: halves) }
    #expect(whole == check)
    #expect(Checksum.crc32(UnsafeRawBufferPointer(start: nil, count: 0), startingFrom: 7) == 7)
    let store = RawUUID(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F)
    let seeded = Array("123456789".utf8).withUnsafeBytes {
      FrameSeed(store: store, generation: 3).checksum($0, at: 12_288)
    }
    var plain = ContiguousArray(UInt8(0)...15)
    plain.append(fixed: UInt64(3))
    plain.append(fixed: UInt64(12_288))
    plain.append(contentsOf: "123456789".utf8)
    #expect(seeded == plain.withUnsafeBytes { Checksum.crc32($0) })
    let seed = FrameSeed(store: store, generation: 3)
    #expect(seed.checksum(ofBytesWith: check, count: 9, at: 12_288) == seeded)
  }

  @Test
  func checksumsOfEveryLengthAreThoseByTheRule() {
    // Short pieces go through tables, long ones through zlib: both sides of every length at which
    // one of the loops begins or ends, at every alignment.
    var random = SeededRandom(seed: 11)
    let bytes = ContiguousArray(
      (0..<1500).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    bytes.withUnsafeBytes { all in
      for shift in 0..<9 {
        var expected: UInt32 = 0x1234_5678
        for length in 0...all.count - shift {
          let piece = UnsafeRawBufferPointer(rebasing: all[shift..<shift + length])
          guard Checksum.crc32(piece, startingFrom: 0x1234_5678) == expected else {
            Issue.record("\(length) bytes from \(shift) on")
            return
          }
          if shift + length < all.count {
            expected = crc32ByTheRule(all[shift + length], after: expected)
          }
        }
      }
    }
  }

  /// One byte more, bit by bit, as FORMAT.md writes the rule.
  private func crc32ByTheRule(_ byte: UInt8, after sum: UInt32) -> UInt32 {
    var state = ~sum ^ UInt32(byte)
    for _ in 0..<8 { state = state & 1 == 1 ? state >> 1 ^ 0xEDB8_8320 : state >> 1 }
    return ~state
  }
}
