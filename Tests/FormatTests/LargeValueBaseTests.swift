import AnnalsFormat
import AnnalsModel
import AnnalsTestSupport
import Testing

/// Large values that are made from the bytes of others.
@Suite struct LargeValueBaseTests {
  private func steps(_ bytes: [UInt8], from base: [UInt8]) -> ContiguousArray<UInt8> {
    bytes.withUnsafeBytes { bytes in
      base.withUnsafeBytes { LargeValueDifference.encode(bytes, from: $0) }
    }
  }

  private func apply(
    _ steps: some Collection<UInt8>, to base: [UInt8], length: Int
  ) throws -> [UInt8] {
    try ContiguousArray(steps).withUnsafeBytes { steps in
      try base.withUnsafeBytes {
        Array(try LargeValueDifference.apply(steps, to: $0, length: length))
      }
    }
  }

  private func words(_ count: Int, _ random: inout SeededRandom) -> [UInt8] {
    var result: [UInt8] = []
    while result.count < count {
      result += Array("\(UInt16.random(in: 0..<3_000, using: &random)) ".utf8)
    }
    return result
  }

  private func edit(_ text: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
    var result = text
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let place = Int.random(in: 0...result.count, using: &random)
      let length = min(Int.random(in: 0...300, using: &random), result.count - place)
      let part = Array(result[place..<place + length])
      switch Int.random(in: 0..<4, using: &random) {
      case 0: result.insert(contentsOf: words(length, &random), at: place)
      case 1: result.removeSubrange(place..<place + length)
      case 2: result.replaceSubrange(place..<place + length, with: words(length, &random))
      default:
        result.removeSubrange(place..<place + length)
        let other = Int.random(in: 0...result.count, using: &random)
        result.insert(contentsOf: part, at: other)
      }
    }
    return result
  }

  @Test func stepsMakeTheBytes() throws {
    var random = SeededRandom(seed: 11)
    var shortest = 0
    for length in [0, 1, 15, 16, 17, 31, 33, 500, 5_000, 40_000] {
      let base = words(length, &random)
      for _ in 0..<20 {
        let bytes = edit(base, &random)
        let steps = steps(bytes, from: base)
        #expect(try apply(steps, to: base, length: bytes.count) == bytes)
        if length == 40_000, steps.count < 2_500 { shortest += 1 }
      }
      #expect(try apply(steps(base, from: []), to: [], length: base.count) == base)
      let same = steps(base, from: base)
      #expect(try apply(same, to: base, length: base.count) == base)
      #expect(same.count < max(8, min(length + 3, 20)))
      #expect(try apply(steps([], from: base), to: base, length: 0) == [])
    }
    #expect(shortest == 20, "an edit of a long text has few steps")
    // The same block over and over, and bytes that have nothing in common.
    let zeros = [UInt8](repeating: 0, count: 10_000)
    #expect(
      try apply(steps(zeros + [1] + zeros, from: zeros), to: zeros, length: 20_001).count == 20_001)
    let noise = (0..<10_000).map { _ in UInt8.random(in: 0...255, using: &random) }
    #expect(steps(noise, from: zeros).count <= noise.count + 4)
  }

  /// Whatever the steps, they make as many bytes as they should, or are refused.
  @Test func damagedSteps() throws {
    var random = SeededRandom(seed: 12)
    let base = words(200, &random)
    let bytes = Array(base[100...]) + Array("new words".utf8) + Array(base[..<90])
    let steps = steps(bytes, from: base)
    for count in 0..<steps.count {
      #expect(throws: DecodeFault.self) {
        _ = try apply(steps.prefix(count), to: base, length: bytes.count)
      }
    }
    for place in steps.indices {
      for bit in 0..<8 {
        var flipped = steps
        flipped[place] ^= 1 << UInt8(bit)
        guard let result = try? apply(flipped, to: base, length: bytes.count) else { continue }
        #expect(result.count == bytes.count, "\(place) \(bit)")
      }
    }
  }

  @Test(
    arguments: [
      [0], [1], [1, 0], [9, 1], [9, 12], [8, 1, 2, 3], [8, 1, 2, 3, 4, 4, 5, 6],
      [7, 0, 2, 1, 0], [5, 0, 5, 14],
      // Farther than a place can be.
      [5, 0, 5, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
      [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x3F, 0], [0x80, 0x80, 0x80, 0x80, 0x40],
    ] as [[UInt8]])
  func wrongSteps(steps: [UInt8]) {
    #expect(throws: DecodeFault.self) {
      _ = try apply(steps, to: Array("a base".utf8), length: 4)
    }
  }

  @Test func rightSteps() throws {
    let base = Array("a base".utf8)
    #expect(try apply([9, 0], to: base, length: 4) == Array("a ba".utf8))
    #expect(try apply([9, 4], to: base, length: 4) == Array("base".utf8))
    #expect(try apply([5, 4, 5, 3], to: base, length: 4) == Array("baba".utf8))
    #expect(try apply([2, 120, 7, 6], to: base, length: 4) == Array("xase".utf8))
  }

  // MARK: Pieces

  private func payload(
    _ number: UInt64, _ bytes: [UInt8], basedOn base: (UInt64, [UInt8])? = nil
  ) -> ContiguousArray<UInt8> {
    guard let base else { return largeValuePiece(number, bytes) }
    let steps = steps(bytes, from: base.1)
    var result: ContiguousArray<UInt8> = []
    bytes.withUnsafeBytes { bytes in
      let piece = LargeValuePiece(
        number: number, totalLength: UInt64(bytes.count), start: 0, bytes: bytes)
      steps.withUnsafeBytes {
        LargeValueCodec.encode(piece.based(on: base.0, $0), into: &result)
      }
    }
    return result
  }

  private func read(_ payloads: [ContiguousArray<UInt8>]) throws -> [UInt8] {
    try payloads[0].withUnsafeBytes { first in
      var chain = LargeValueChain(try LargeValueCodec.decode(first))
      for payload in payloads.dropFirst() {
        #expect(chain.missing != nil)
        try payload.withUnsafeBytes { try chain.add($0) }
      }
      #expect(chain.missing == nil)
      return try chain.made().withBytes { Array($0) }
    }
  }

  @Test func basesOfBases() throws {
    var random = SeededRandom(seed: 13)
    var texts = [words(3_000, &random)]
    var payloads = [payload(1, texts[0])]
    for number in 2...33 as ClosedRange<UInt64> {
      texts.append(edit(texts[texts.count - 1], &random))
      let last = texts[texts.count - 2]
      payloads.append(payload(number, texts[texts.count - 1], basedOn: (number - 1, last)))
    }
    for last in [1, 2, 17, 32] {
      #expect(try read(payloads[..<last].reversed()) == texts[last - 1])
    }
    #expect(throws: DecodeFault.self) { _ = try read(payloads.reversed()) }
  }

  @Test func wrongBases() throws {
    let base = Array("a base of some bytes, a base".utf8)
    let based = payload(7, base + base, basedOn: (5, base))
    #expect(try read([based, payload(5, base)]) == base + base)
    // Another value, one in pieces, a lost one.
    var lost: ContiguousArray<UInt8> = []
    LargeValueCodec.encode(LargeValuePiece(lost: 5, totalLength: 28), into: &lost)
    let pieces = [payload(4, base), largeValuePiece(5, base, total: 40), lost]
    for wrong in pieces {
      #expect(throws: DecodeFault.self) { _ = try read([based, wrong]) }
    }
    // Shorter than what is copied.
    #expect(throws: DecodeFault.self) { _ = try read([based, payload(5, [1])]) }
    for wrong in [payload(5, base, basedOn: (5, base)), payload(5, base, basedOn: (6, base))] {
      #expect(throws: DecodeFault.self) { _ = try read([wrong]) }
    }
    // One that is too long, alone and with its base.
    let long = [UInt8](repeating: 1, count: (4 << 20) + 1)
    #expect(throws: DecodeFault.self) { _ = try read([payload(7, long, basedOn: (5, base))]) }
    let half = Array(long.prefix(2 << 20))
    #expect(try read([payload(7, half, basedOn: (5, half)), payload(5, half)]).count == half.count)
    let more = half + [1]
    #expect(throws: DecodeFault.self) {
      _ = try read([payload(7, more, basedOn: (5, half)), payload(5, half)])
    }
    // Bytes that are not made are never taken for the value's.
    try based.withUnsafeBytes {
      let stored = try LargeValueCodec.decode($0)
      var assembly = LargeValueAssembly(stored)
      let isAdded = assembly.add(stored)
      #expect(!isAdded)
    }
  }
}
