import AnnalsModel

/// Finds the distinct values among cells of one kind if they are few enough to be worth listing
/// once. Kinds with bytes in the arena compare by those, others by their bits.
struct DistinctValues {
  /// The position of the first occurrence of each distinct value, in order.
  private(set) var firsts: ContiguousArray<Int> = []

  /// Fills `indexes` with the distinct value's ordinal of each cell; nil if most values differ.
  init?(
    _ cells: UnsafeBufferPointer<ValueCell>, in arena: UnsafeRawBufferPointer,
    indexes: UnsafeMutableBufferPointer<Int64>
  ) {
    guard cells.count >= DistinctValues.fewest else { return nil }
    let usesArena = cells[0].usesArena
    var size = 1024
    var table = ContiguousArray<Int32>(repeating: -1, count: size)
    var hashes: ContiguousArray<UInt64> = []
    for position in cells.indices {
      let cell = cells[position]
      let hash = usesArena ? DistinctValues.hash(arena[cell.arenaRange]) : mix(cell.bits)
      var slot = Int(truncatingIfNeeded: hash) & (size - 1)
      var probes = 0
      while true {
        let ordinal = Int(table[slot])
        if ordinal < 0 { break }
        if hashes[ordinal] == hash,
          DistinctValues.areSame(cells[firsts[ordinal]], cell, usesArena, arena)
        {
          indexes[position] = Int64(ordinal)
          break
        }
        slot = (slot + 1) & (size - 1)
        probes += 1
        // Values chosen to collide cost no more than values that are stored plainly.
        if probes > 64 { return nil }
      }
      guard table[slot] < 0 else { continue }
      indexes[position] = Int64(firsts.count)
      table[slot] = Int32(firsts.count)
      firsts.append(position)
      hashes.append(hash)
      if firsts.count > cells.count / 2 { return nil }
      // Hashing is not free: give up soon on identifiers and the like.
      if position == DistinctValues.trial, firsts.count * 20 > position * 19 { return nil }
      if firsts.count * 2 > size {
        size *= 4
        table = DistinctValues.table(hashes, size: size)
      }
    }
  }

  /// Below this count of values a list of the distinct ones gains nothing.
  private static let fewest = 16
  /// After this many values it shows whether any come again.
  private static let trial = 256

  private static func table(
    _ hashes: ContiguousArray<UInt64>, size: Int
  ) -> ContiguousArray<Int32> {
    var table = ContiguousArray<Int32>(repeating: -1, count: size)
    for (ordinal, hash) in hashes.enumerated() {
      var slot = Int(truncatingIfNeeded: hash) & (size - 1)
      while table[slot] >= 0 { slot = (slot + 1) & (size - 1) }
      table[slot] = Int32(ordinal)
    }
    return table
  }

  private static func areSame(
    _ a: ValueCell, _ b: ValueCell, _ usesArena: Bool, _ arena: UnsafeRawBufferPointer
  ) -> Bool {
    guard usesArena else { return a.bits == b.bits }
    guard a.length == b.length else { return false }
    return SharedPrefix.length(
      UnsafeRawBufferPointer(rebasing: arena[a.arenaRange]),
      UnsafeRawBufferPointer(rebasing: arena[b.arenaRange])) == Int(a.length)
  }

  static func hash(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt64 {
    let whole = UnsafeRawBufferPointer(rebasing: bytes)
    var result = UInt64(whole.count)
    var offset = 0
    while whole.count - offset >= 8 {
      result = mix(result ^ whole.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      offset += 8
    }
    var rest: UInt64 = 0
    while offset < whole.count {
      rest = rest << 8 | UInt64(whole[offset])
      offset += 1
    }
    return mix(result ^ rest)
  }
}

/// Spreads the bits of a number over all of its bits.
func mix(_ value: UInt64) -> UInt64 {
  let product = (value ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
  return product.high ^ product.low
}
