import AnnalsTestSupport

/// Random damage to a file, of the sorts that disks and mishaps do.
struct RandomDamage {
  /// The damaged bytes.
  private(set) var bytes: ContiguousArray<UInt8>
  /// What was done, in words.
  private(set) var text = ""
  /// Whether a page of the other file is here: a slot and a first frame of it would be taken for
  /// those of the store.
  private var hasPage = false

  /// Damages `bytes` in one to three ways; `other` is a file of which a page may have got here.
  init(
    _ bytes: ContiguousArray<UInt8>, other: ContiguousArray<UInt8>, _ random: inout SeededRandom
  ) {
    self.bytes = bytes
    let ways = [1, 1, 1, 2, 3][random.below(5)]
    for _ in 0..<ways { damage(other, &random) }
  }

  /// Behind the last byte that is not zero, and some more.
  private var end: Int {
    min(bytes.count, (bytes.lastIndex { $0 != 0 } ?? 0) + 64)
  }

  private mutating func damage(
    _ other: ContiguousArray<UInt8>, _ random: inout SeededRandom
  ) {
    guard end > 0 else { return }
    // The three blocks at the front are as small as they are important.
    let front = random.chance(12) ? 0 : min(12_288, end - 1)
    switch random.below(10) {
    case 0..<4:
      for _ in 0..<random.number(1...4) {
        let byte = random.number(front...end - 1)
        let bit = random.below(8)
        bytes[byte] ^= 1 << UInt8(bit)
        text += " bit \(bit) of \(byte)"
      }
    case 4, 5:
      let sector = random.number(front / 512...(end - 1) / 512)
      let count = [1, 8, 8, 64][random.below(4)]
      put(nil, from: sector * 512, count: count * 512)
    case 6: put(nil, from: random.number(front...end - 1), count: random.number(1...6_000))
    case 7:
      let length = random.number(front...end)
      bytes.removeLast(bytes.count - length)
      text += " cut to \(length)"
    default:
      guard other.count >= 4_096, !hasPage else { return }
      hasPage = true
      let page = random.number(front / 4_096...(end - 1) / 4_096)
      let from = random.chance(50) ? page : random.below(other.count / 4_096)
      put(other.dropFirst(from * 4_096), from: page * 4_096, count: 4_096)
      text += " of another file from page \(from)"
    }
  }

  /// Overwrites what is there with these bytes, or zeros.
  private mutating func put(
    _ source: ContiguousArray<UInt8>.SubSequence?, from start: Int, count: Int
  ) {
    let last = min(bytes.count, start + count)
    var next = source?.startIndex ?? 0
    for index in start..<max(start, last) {
      let byte = source.map { next < $0.endIndex ? $0[next] : 0 } ?? 0
      bytes[index] = byte
      next += 1
    }
    text += " \(source == nil ? "zeros" : "a page") at \(start)..<\(last)"
  }
}
