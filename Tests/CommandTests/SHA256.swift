/// SHA-256 (FIPS 180-4), for comparing states with what was computed elsewhere.
struct SHA256 {
  private var state: [UInt32] = [
    0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB,
    0x5BE0_CD19,
  ]
  private var pending: [UInt8] = []
  private(set) var count: UInt64 = 0

  private static let constants: [UInt32] = (2...311).filter { n in
    (2..<n).allSatisfy { n % $0 != 0 || $0 * $0 > n && n % $0 != 0 }
  }.map { prime in
    // The first 32 bits of the fractional parts of the cube roots of the primes.
    let root = Double(prime).cubeRoot
    return UInt32((root - root.rounded(.down)) * 4_294_967_296)
  }

  mutating func update(_ bytes: some Collection<UInt8>) {
    count += UInt64(bytes.count)
    pending.append(contentsOf: bytes)
    let whole = pending.count / 64 * 64
    var words = [UInt32](repeating: 0, count: 64)
    pending.withUnsafeBufferPointer { all in
      guard let first = all.baseAddress else { return }
      for start in stride(from: 0, to: whole, by: 64) {
        SHA256.process(first + start, &state, &words)
      }
    }
    pending.removeFirst(whole)
  }

  mutating func finish() -> String {
    let bits = count * 8
    var tail: [UInt8] = [0x80]
    while (pending.count + tail.count) % 64 != 56 { tail.append(0) }
    for shift in stride(from: 56, through: 0, by: -8) {
      tail.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
    }
    update(tail)
    return state.map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 8 - digits.count) + digits
    }.joined()
  }

  /// Its operators and loops are those that an unoptimised build compiles to instructions, and not
  /// to calls.
  private static func process(
    _ block: UnsafePointer<UInt8>, _ state: inout [UInt32], _ words: inout [UInt32]
  ) {
    words.withUnsafeMutableBufferPointer { buffer in
      guard let w = buffer.baseAddress else { return }
      var index = 0
      while index < 16 {
        let at = block + (index &<< 2)
        let high = UInt32(at[0]) &<< 24 | UInt32(at[1]) &<< 16
        w[index] = high | UInt32(at[2]) &<< 8 | UInt32(at[3])
        index &+= 1
      }
      while index < 64 {
        let a = w[index &- 15]
        let b = w[index &- 2]
        let s0 = (a &>> 7 | a &<< 25) ^ (a &>> 18 | a &<< 14) ^ (a &>> 3)
        let s1 = (b &>> 17 | b &<< 15) ^ (b &>> 19 | b &<< 13) ^ (b &>> 10)
        w[index] = w[index &- 16] &+ s0 &+ w[index &- 7] &+ s1
        index &+= 1
      }
      constants.withUnsafeBufferPointer { buffer in
        guard let k = buffer.baseAddress else { return }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        var index = 0
        while index < 64 {
          let s1 = (e &>> 6 | e &<< 26) ^ (e &>> 11 | e &<< 21) ^ (e &>> 25 | e &<< 7)
          let t1 = h &+ s1 &+ ((e & f) ^ (~e & g)) &+ k[index] &+ w[index]
          let s0 = (a &>> 2 | a &<< 30) ^ (a &>> 13 | a &<< 19) ^ (a &>> 22 | a &<< 10)
          let t2 = s0 &+ ((a & b) ^ (a & c) ^ (b & c))
          (h, g, f, e, d, c, b, a) = (g, f, e, d &+ t1, c, b, a, t1 &+ t2)
          index &+= 1
        }
        for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= value }
      }
    }
  }
}

extension Double {
  /// The cube root, by Newton's steps.
  fileprivate var cubeRoot: Double {
    var root = self / 3
    for _ in 0..<60 { root = (2 * root + self / (root * root)) / 3 }
    return root
  }
}
