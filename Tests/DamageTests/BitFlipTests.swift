import Annals
import AnnalsModel
import AnnalsStorage
import Foundation
import Testing

/// No single bit of a file changes what is read without `verify` having something to say.
///
/// By default a sample of the bits, all of those near something that is not zero being as likely as
/// all others together; every bit with `ANNALS_LONG`.
@Suite struct BitFlipTests {
  /// How many bits of each sort of file are tried by default.
  private static let sample = 100

  private func bits(of bytes: ContiguousArray<UInt8>, _ sort: SampleFile) -> [Int] {
    if isLong { return Array(0..<bytes.count * 8) }
    let seed = damageSeed
    var random = SeededGenerator(
      seed: seed &+ UInt64(sort.rawValue.utf8.reduce(0) { $0 + Int($1) }))
    let dense = bytes.indices.filter { index in
      bytes[max(0, index - 8)..<min(bytes.count, index + 9)].contains { $0 != 0 }
    }
    return (0..<BitFlipTests.sample).map { index in
      let byte =
        index % 5 == 0
        ? Int.random(in: bytes.indices, using: &random)
        : dense[Int.random(in: dense.indices, using: &random)]
      return byte * 8 + Int.random(in: 0..<8, using: &random)
    }
  }

  @Test(arguments: SampleFile.allCases)
  func verifyFindsEveryFlip(sort: SampleFile) throws {
    print("ANNALS_DAMAGE_SEED=\(damageSeed)")
    let bytes = try sort.make()
    let known = try verify(bytes)
    let original = try Reading(openForReading(bytes))
    var flipped = bytes
    for (count, bit) in bits(of: bytes, sort).enumerated() {
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      defer { flipped[bit / 8] = bytes[bit / 8] }
      // All bytes are covered: reserved ones must be zero, and so must padding and space ahead.
      let found = try verify(flipped)
      #expect(!found.subtracting(known).isEmpty, "\(sort): bit \(bit % 8) of byte \(bit / 8)")
      if !isLong, count % 4 != 0 { continue }
      try expectNoWrongAnswer(flipped, original, "\(sort): bit \(bit % 8) of byte \(bit / 8)")
    }
  }

  /// What a damaged file answers is right, or an error; and fewer transactions than there were are
  /// a torn tail.
  private func expectNoWrongAnswer(
    _ bytes: ContiguousArray<UInt8>, _ original: Reading, _ what: String
  ) throws {
    guard let store = try? openForReading(bytes) else { return }
    let head = store.token.number
    for number in original.states.keys.sorted() where number <= head {
      guard let state = try? Reading.state(store, number) else { continue }
      #expect(state == original.states[number], "\(what): the state as of \(number)")
    }
    var seen: [Int64: String] = [:]
    try? store.history().forEach { seen[$0.number] = try Reading.text($0, in: store) }
    for (number, text) in seen {
      #expect(text == original.transactions[number], "\(what): transaction \(number)")
    }
  }

  /// The sorts are what they say, so that flipping their bits means something.
  @Test func theSampleHoldsEverything() throws {
    var states: Set<String> = []
    for sort in SampleFile.allCases {
      let bytes = try sort.make()
      #expect(try sort.make() == bytes)
      let store = try openForReading(bytes)
      let reading = try Reading(store)
      #expect(store.token.number == (sort == .prunedOpen ? 12 : 11), "\(sort)")
      states.insert(reading.states[11] ?? "")
      #expect(try verify(bytes).filter { $0.hasPrefix("error") || $0.hasPrefix("warning") } == [])
      #expect(bytes.count < 120_000)
    }
    #expect(states.count == 1)
    #expect(try openForReading(SampleFile.pruned.make()).base.number == 5)
  }
}
