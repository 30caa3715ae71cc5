import Annals
import AnnalsFormat
import AnnalsModel
import AnnalsTestSupport

/// Flips bits of a file, one at a time, or cuts it, and looks at what `verify` and every reading
/// say.
struct FlipTrial {
  typealias Bytes = ContiguousArray<UInt8>

  private let bytes: Bytes
  private let original: Reading
  private let known: Set<String>
  private let verify: (Bytes) throws -> Set<String>
  private let change: (Bytes) -> Bytes

  /// A trial of the file. To see that it would notice, `changing` may alter what is read after each
  /// flip, and `verify` stand in for the verification.
  init(
    _ bytes: Bytes, changing change: @escaping (Bytes) -> Bytes = { $0 },
    verify: @escaping (Bytes) throws -> Set<String> = DamageTests.verify
  ) throws {
    self.bytes = bytes
    self.verify = verify
    self.change = change
    known = try verify(bytes)
    original = try Reading(openForReading(bytes))
  }

  /// Flips each of the bits; returns what is wrong, a line each: bits of which `verify` says
  /// nothing, and of those in `asking` also wrong answers.
  func run(_ bits: [Int], asking: Set<Int>) throws -> [String] {
    var problems: [String] = []
    var flipped = bytes
    for bit in bits {
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      defer { flipped[bit / 8] = bytes[bit / 8] }
      let place = "bit \(bit % 8) of byte \(bit / 8)"
      let read = change(flipped)
      // All bytes are covered: reserved ones must be zero, and so must padding and space ahead.
      if try verify(read).subtracting(known).isEmpty {
        problems.append("\(place): verify says nothing")
      }
      if asking.contains(bit) {
        problems += try wrongAnswers(read).map { "\(place): \($0)" }
      }
    }
    return problems
  }

  /// Cuts the file to each of the lengths; returns what is wrong, a line each: cuts of which
  /// `verify` says nothing though more than zeros went, and wrong answers.
  func cut(to lengths: [Int]) throws -> [String] {
    var problems: [String] = []
    let end = (bytes.lastIndex { $0 != 0 } ?? 0) + 1
    for length in lengths {
      let read = change(Bytes(bytes.prefix(length)))
      if length < end, try verify(read).subtracting(known).isEmpty {
        problems.append("cut to \(length) bytes: verify says nothing")
      }
      problems += try wrongAnswers(read).map { "cut to \(length) bytes: \($0)" }
    }
    return problems
  }

  /// What a damaged file answers must be right, or an error; fewer transactions than there were are
  /// a torn tail.
  private func wrongAnswers(_ bytes: Bytes) throws -> [String] {
    guard let store = try? openForReading(bytes) else { return [] }
    var wrong: [String] = []
    let head = store.token.number
    for number in original.states.keys.sorted() where number <= head {
      guard let state = try? Reading.state(store, number) else { continue }
      if state != original.states[number] { wrong.append("the state as of \(number) is another") }
    }
    if let lines = try? Reading.tombstones(store), lines != original.tombstones {
      wrong.append("the tombstones are others")
    }
    // A change that cannot be read leaves a consumer where it was, and adds one at the base, which
    // keeps all history.
    for consumer in store.consumers {
      let place = original.consumers[consumer.name]?.number ?? store.base.number
      if consumer.token.number > place { wrong.append("the consumer \(consumer.name) is another") }
    }
    if ![original.retention, .off].contains(store.retention) {
      wrong.append("the retention is another")
    }
    var seen: [Int64: String] = [:]
    try? store.history().forEach { seen[$0.number] = try Reading.text($0, in: store) }
    for number in seen.keys.sorted() where seen[number] != original.transactions[number] {
      wrong.append("transaction \(number) is another")
    }
    return wrong
  }
}

extension ContiguousArray<UInt8> {
  /// The file with the checksums of all payloads made to fit, as if nobody looked at them.
  func sealed() -> ContiguousArray<UInt8> {
    var bytes = self
    guard let header = try? fileHeader(), let frames = try? frames() else { return self }
    var previous = header.checksum
    for frame in frames {
      var new = frame.header
      let offset = UInt64(frame.offset)
      new.payloadChecksum = self[frame.payload].withUnsafeBytes {
        header.seed.checksum($0, at: offset)
      }
      new.previousChecksum = previous
      var encoded: ContiguousArray<UInt8> = []
      new.encode(into: &encoded, at: offset, seed: header.seed)
      bytes.replaceSubrange(frame.offset..<frame.payload.lowerBound, with: encoded)
      previous = new.checksum
    }
    // The slots name the last frame before their mark; both are those of a clean close.
    for index in 0...1 {
      try? bytes.editSlot(index) { slot in
        if slot.durableMark == frames.last.map({ UInt64($0.end) }) { slot.markChecksum = previous }
      }
    }
    return bytes
  }
}
