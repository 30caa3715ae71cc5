import AnnalsFormat
import AnnalsModel

// Leaves of the values of a chunk.

extension Leaf {
  /// Puts a chunk's values into sixteen leaves, its first row at `offset`. False if a leaf that
  /// another chunk of the group filled before does not fit them.
  static func fill(
    _ leaves: inout ContiguousArray<Leaf?>, from offset: Int, with values: ColumnValues
  ) -> Bool {
    let bits = values.rows.words
    var ordinal = 0
    var byte = 0
    if offset & 255 == 0 {
      let first = offset >> 8
      for leaf in 0..<RowPosition.leafCount - first {
        let words = bits[leaf * bitWords..<(leaf + 1) * bitWords]
        let count = words.reduce(0) { $0 + $1.nonzeroBitCount }
        if count == 0 { continue }
        guard leaves[first + leaf] == nil else { return false }
        leaves[first + leaf] = make(values, bits: words, ordinal: &ordinal, byte: &byte)
      }
      return true
    }
    // A chunk that begins within a leaf: values so long that few fit a chunk.
    return values.bytes.withUnsafeBytes { arena in
      for row in values.rows.offsets {
        let place = offset + Int(row)
        let cell = values.cell(ordinal, byte: byte)
        guard
          set(
            &leaves[place >> 8], slot: place & 255, to: cell, in: arena, declared: values.kind)
        else { return false }
        if !values.lengths.isEmpty { byte += Int(values.lengths[ordinal]) }
        ordinal += 1
      }
      return true
    }
  }

  /// A leaf with the values from `ordinal` on for the rows whose bits are set.
  private static func make(
    _ values: ColumnValues, bits: ArraySlice<UInt64>, ordinal: inout Int,
    byte: inout Int
  ) -> Leaf {
    let rows = lastBit(bits) + 1
    let count = bits.reduce(0) { $0 + $1.nonzeroBitCount }
    let arena = values.kind.storage == .bytes ? total(values.lengths, ordinal, count) : 0
    let leaf = make(kind: values.kind, entity: values.target, rows: rows, arenaCapacity: arena)
    for (index, word) in bits.enumerated() { leaf.words[index] = word }
    leaf.head.pointee.rows = rows
    leaf.head.pointee.present = count
    leaf.head.pointee.arenaCount = arena
    switch values.kind.storage {
    case .words:
      values.words.withUnsafeBytes { leaf.place($0, from: ordinal, width: 8) }
    case .pairs:
      values.bytes.withUnsafeBytes { leaf.place($0, from: ordinal, width: 16) }
    case .bytes:
      leaf.placeEnds(values, from: ordinal)
      values.bytes.withUnsafeBytes { bytes in
        let source = UnsafeRawBufferPointer(rebasing: bytes[byte..<byte + arena])
        UnsafeMutableRawBufferPointer(start: leaf.arena, count: arena).copyMemory(from: source)
      }
      byte += arena
    }
    ordinal += count
    return leaf
  }

  private static func total(
    _ lengths: ContiguousArray<UInt64>, _ first: Int, _ count: Int
  ) -> Int {
    lengths.withUnsafeBufferPointer { lengths in
      var sum: UInt64 = 0
      for index in first..<first + count { sum &+= lengths[index] }
      return Int(sum)
    }
  }

  private static func lastBit(_ bits: ArraySlice<UInt64>) -> Int {
    for (index, word) in bits.enumerated().reversed() where word != 0 {
      return index * 64 + 63 - word.leadingZeroBitCount
    }
    return -1
  }
}

extension ColumnValues {
  /// The value at this place, its bytes from `byte` on.
  fileprivate func cell(_ ordinal: Int, byte: Int) -> ValueCell {
    switch kind {
    case .bool, .int, .double, .date, .day: ValueCell(tag: kind.tag ?? .null, bits: words[ordinal])
    case .object: ValueCell(tag: .object, bits: words[ordinal], length: target)
    case .uuid: ValueCell(tag: .uuid, bits: UInt64(ordinal * 16), length: 16)
    case .string, .url, .data, .json, .objects, .decimal:
      bytesCell(kind.tag ?? .null, ordinal, byte: byte)
    case .any:
      bytes.withUnsafeBytes {
        bytesCell(ValueTag(rawValue: tags[ordinal]) ?? .null, ordinal, byte: byte).ofAny(in: $0)
      }
    }
  }

  @inline(__always)
  private func bytesCell(_ tag: ValueTag, _ ordinal: Int, byte: Int) -> ValueCell {
    ValueCell(
      tag: tag, bits: UInt64(byte), length: UInt32(lengths[ordinal]),
      isLarge: !large.isEmpty && large[ordinal])
  }
}
