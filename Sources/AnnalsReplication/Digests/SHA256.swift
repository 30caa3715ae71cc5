import CProcessor

/// SHA-256 (FIPS 180-4), fed piece by piece.
///
/// The digest that chains transactions must be one for which nobody finds two texts: a checksum
/// would not do. Written here since the package has no library of cryptography; by instructions of
/// the processor where it has them, which take an eighth of the time.
package struct SHA256: Sendable {
  private var state: [UInt32] = [
    0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB,
    0x5BE0_CD19,
  ]
  /// The bytes that do not fill a block yet.
  private var rest: [UInt8] = []
  private var count: UInt64 = 0
  private let usesInstructions: Bool
  private static let blockLength = 64
  private static let hasInstructions = annals_sha256_is_built_in() != 0

  /// Nothing added yet. `isPortable`: without the processor's instructions.
  package init(isPortable: Bool = false) {
    usesInstructions = SHA256.hasInstructions && !isPortable
    rest.reserveCapacity(SHA256.blockLength)
  }

  /// Adds bytes. O(n).
  package mutating func add(_ bytes: UnsafeRawBufferPointer) {
    count &+= UInt64(bytes.count)
    var offset = 0
    if !rest.isEmpty {
      offset = min(SHA256.blockLength - rest.count, bytes.count)
      rest.append(contentsOf: bytes[..<offset])
      guard rest.count == SHA256.blockLength else { return }
      rest.withUnsafeBytes { SHA256.add($0, to: &state, usesInstructions) }
      rest.removeAll(keepingCapacity: true)
    }
    let end = bytes.count - (bytes.count - offset) % SHA256.blockLength
    if offset < end {
      let blocks = UnsafeRawBufferPointer(rebasing: bytes[offset..<end])
      SHA256.add(blocks, to: &state, usesInstructions)
    }
    rest.append(contentsOf: bytes[end...])
  }

  /// The digest of what was added.
  package consuming func digest() -> Digest {
    let bits = count &* 8
    var padding: [UInt8] = [0x80]
    while (rest.count + padding.count) % SHA256.blockLength != 56 { padding.append(0) }
    withUnsafeBytes(of: bits.bigEndian) { padding.append(contentsOf: $0) }
    padding.withUnsafeBytes { add($0) }
    return Digest(words: state)
  }

  /// Adds whole blocks.
  private static func add(
    _ blocks: UnsafeRawBufferPointer, to state: inout [UInt32], _ usesInstructions: Bool
  ) {
    guard usesInstructions else { return add(blocks, to: &state) }
    annals_sha256_add(
      &state, blocks.assumingMemoryBound(to: UInt8.self).baseAddress,
      blocks.count / blockLength, constants)
  }

  /// Adds whole blocks. Its operators and loops are those that an unoptimised build compiles to
  /// instructions, and not to calls.
  private static func add(_ blocks: UnsafeRawBufferPointer, to state: inout [UInt32]) {
    guard var block = blocks.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
    let end = block + blocks.count
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
      guard let w = words.baseAddress else { return }
      constants.withUnsafeBufferPointer { constants in
        guard let k = constants.baseAddress else { return }
        state.withUnsafeMutableBufferPointer { state in
          guard let h = state.baseAddress else { return }
          while block < end {
            expand(block, into: w)
            compress(w, k, h)
            block += blockLength
          }
        }
      }
    }
  }

  private static func expand(_ block: UnsafePointer<UInt8>, into w: UnsafeMutablePointer<UInt32>) {
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
  }

  private static func compress(
    _ w: UnsafeMutablePointer<UInt32>, _ k: UnsafePointer<UInt32>,
    _ state: UnsafeMutablePointer<UInt32>
  ) {
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
    state[0] = state[0] &+ a
    state[1] = state[1] &+ b
    state[2] = state[2] &+ c
    state[3] = state[3] &+ d
    state[4] = state[4] &+ e
    state[5] = state[5] &+ f
    state[6] = state[6] &+ g
    state[7] = state[7] &+ h
  }

  /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
  private static let constants: [UInt32] = [
    0x428A_2F98, 0x7137_4491, 0xB5C0_FBCF, 0xE9B5_DBA5, 0x3956_C25B, 0x59F1_11F1, 0x923F_82A4,
    0xAB1C_5ED5, 0xD807_AA98, 0x1283_5B01, 0x2431_85BE, 0x550C_7DC3, 0x72BE_5D74, 0x80DE_B1FE,
    0x9BDC_06A7, 0xC19B_F174, 0xE49B_69C1, 0xEFBE_4786, 0x0FC1_9DC6, 0x240C_A1CC, 0x2DE9_2C6F,
    0x4A74_84AA, 0x5CB0_A9DC, 0x76F9_88DA, 0x983E_5152, 0xA831_C66D, 0xB003_27C8, 0xBF59_7FC7,
    0xC6E0_0BF3, 0xD5A7_9147, 0x06CA_6351, 0x1429_2967, 0x27B7_0A85, 0x2E1B_2138, 0x4D2C_6DFC,
    0x5338_0D13, 0x650A_7354, 0x766A_0ABB, 0x81C2_C92E, 0x9272_2C85, 0xA2BF_E8A1, 0xA81A_664B,
    0xC24B_8B70, 0xC76C_51A3, 0xD192_E819, 0xD699_0624, 0xF40E_3585, 0x106A_A070, 0x19A4_C116,
    0x1E37_6C08, 0x2748_774C, 0x34B0_BCB5, 0x391C_0CB3, 0x4ED8_AA4A, 0x5B9C_CA4F, 0x682E_6FF3,
    0x748F_82EE, 0x78A5_636F, 0x84C8_7814, 0x8CC7_0208, 0x90BE_FFFA, 0xA450_6CEB, 0xBEF9_A3F7,
    0xC671_78F2,
  ]
}
