import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

/// No single bit of a file changes what is read without `verify` having something to say.
///
/// By default a sample of the bits, all of those near something that is not zero being as likely as
/// all others together; every bit with `ANNALS_LONG`. `ANNALS_DAMAGE_BITS` says how many of each
/// sort of file.
@Suite struct BitFlipTests {
  /// How many bits of each sort of file are tried by default.
  private static let sample =
    ProcessInfo.processInfo.environment["ANNALS_DAMAGE_BITS"].flatMap { Int($0) } ?? 100

  private func bits(of bytes: ContiguousArray<UInt8>, _ sort: SampleFile) -> [Int] {
    if isLong { return Array(0..<bytes.count * 8) }
    let seed = damageSeed
    var random = SeededRandom(
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
    let bits = bits(of: bytes, sort)
    let asked = bits.enumerated().filter { isLong || $0.offset % 4 == 0 }.map(\.element)
    let trial = try FlipTrial(bytes)
    for problem in try trial.run(bits, asking: Set(asked)) { Issue.record("\(sort): \(problem)") }
    print("flips of \(sort): \(bits.count), with every answer looked at: \(asked.count)")
  }

  /// No cut goes unseen, either; a sample of all lengths by default.
  @Test(arguments: SampleFile.allCases)
  func verifyFindsEveryCut(sort: SampleFile) throws {
    let bytes = try sort.make()
    let offset = Int(damageSeed % 997)
    let lengths = bytes.indices.filter { isLong || ($0 + offset) % ($0 < 12_288 ? 997 : 401) == 0 }
    let problems = try FlipTrial(bytes).cut(to: lengths)
    for problem in problems { Issue.record("\(sort): \(problem)") }
    print("cuts of \(sort): \(lengths.count)")
    let mute = try FlipTrial(bytes, verify: { _ in [] })
    #expect(try !mute.cut(to: [12_288]).isEmpty)
  }

  /// The library's verification alone finds what the command's does: a program that links the
  /// library once had nothing that looked at the bytes of large values and old slots.
  @Test(arguments: SampleFile.allCases)
  func theLibraryFindsEveryFlip(sort: SampleFile) throws {
    print("ANNALS_DAMAGE_SEED=\(damageSeed)")
    let bytes = try sort.make()
    let known = Set(try openForReading(bytes).verify())
    #expect(known.allSatisfy { $0.severity == .note }, "\(known)")
    var flipped = bytes
    var openedCount = 0
    let bits = bits(of: bytes, sort)
    for bit in bits {
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      defer { flipped[bit / 8] = bytes[bit / 8] }
      // Where it cannot be opened any more, that tells.
      guard let store = try? openForReading(flipped) else { continue }
      openedCount += 1
      let isFound = try !Set(store.verify()).subtracting(known).isEmpty
      #expect(isFound, "\(sort): bit \(bit % 8) of byte \(bit / 8)")
    }
    print("flips of \(sort) that open: \(openedCount) of \(bits.count)")
    #expect(openedCount > bits.count / 10, "the library's verification is hardly asked")
  }

  /// Whoever writes to a damaged file meets the public error and no other: chunks are read when a
  /// commit compares what it changed with them, long after the closure.
  @Test(arguments: [SampleFile.compacted, .pruned])
  func writersMeetTypedErrors(sort: SampleFile) throws {
    let bytes = try sort.make()
    var codes: [AnnalsError.Code: Int] = [:]
    for place in stride(from: 12_289, to: bytes.count, by: isLong ? 1 : 13) {
      var flipped = bytes
      flipped[place] ^= 1
      let location = try sampleFile(flipped)
      do {
        let store = try location.store()
        try store.write { tx in try tx.insert("Note", ["id": "new"]) }
        try store.write { tx in
          if let note = try tx.objects(of: "Note").last { try tx.delete(note.id) }
        }
      } catch let error as AnnalsError {
        codes[error.code, default: 0] += 1
      } catch {
        Issue.record("\(sort), byte \(place): \(error)")
      }
    }
    #expect(codes[.damaged] ?? 0 > 0)
  }

  /// Three bits of a text where it first stands in the file.
  private func bits(of text: String, in bytes: ContiguousArray<UInt8>) throws -> [Int] {
    let wanted = [UInt8(text.utf8.count)] + Array(text.utf8)
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: wanted) })
    return (0..<3).map { (place + 2) * 8 + $0 }
  }

  /// The trial sees a verification that overlooks something, and answers that are wrong: here the
  /// checksums of payloads are made to fit after each flip, as if nobody looked at them.
  @Test func whatIsOverlookedIsSeen() throws {
    let bytes = try SampleFile.closed.make()
    // A text that is in history alone, and one that the states before the first checkpoint have.
    let metadata = try bits(of: "sorting", in: bytes)
    let value = try bits(of: "Note 3", in: bytes)
    let all = metadata + value
    #expect(try FlipTrial(bytes).run(all, asking: Set(all)) == [])

    let trusting = try FlipTrial(bytes) { $0.sealed() }
    let problems = try trusting.run(all, asking: Set(all))
    for bit in all {
      let isMetadata = metadata.contains(bit)
      let number = isMetadata ? 3 : 2
      let expected = [
        isMetadata ? "verify says nothing" : "the state as of 2 is another",
        "transaction \(number) is another",
      ]
      for what in expected {
        #expect(problems.contains("bit \(bit % 8) of byte \(bit / 8): \(what)"), "\(problems)")
      }
    }
    let mute = try FlipTrial(bytes, verify: { _ in [] })
    #expect(try mute.run(all, asking: []).count == all.count)
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
