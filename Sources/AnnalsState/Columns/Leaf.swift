import AnnalsFormat
import AnnalsModel

// A leaf holds one property of up to 256 consecutive rows, in one allocation:
//
//   words    presence bits (4 words), then a word a row
//   pairs    presence bits (4 words), then sixteen bytes a row
//   bytes    presence bits (4), bits of large values (4), then for each row the end of its bytes
//            in the arena (UInt32), for kind `any` its tag (UInt8), then the arena
//
// Invariants:
// - A leaf that is shared is never changed; writers copy it first (`isKnownUniquelyReferenced`).
// - A leaf without a value is not kept: its place in the tree is nil.
// - Rows from `rows` on have no value, and their ends are not written.
// - Ends never fall. The bytes of a row without a value are garbage, counted, and removed when
//   they outweigh the rest; so deleting many rows one after the other moves nothing.
// - In a leaf of kind `object` all references are to `entity`.

/// The header of a leaf. What reading a value takes comes first, in as few cache lines as possible.
struct LeafHeader {
  /// How values of the kind are kept.
  var storage: ColumnStorage
  var kind: ColumnKind
  /// The tag of every value; null in a leaf of kind `any`.
  var tag: ValueTag
  /// Whether any bit of large values may be set.
  var hasLarge = false
  /// The entity of the references in a leaf of kind `object`; otherwise 0.
  var entity: EntityNumber
  /// One more than the last slot that ever had a value.
  var rows: Int = 0
  /// The number of rows with a value.
  var present: Int = 0
  /// The distance in bytes from the first word to the arena.
  var arenaOffset: Int
  /// The bytes in use of the arena.
  var arenaCount: Int = 0
  /// How many of these belong to rows without a value.
  var garbage: Int = 0
  /// The number of rows that fit: 16, 64 or 256.
  var rowCapacity: Int
  var arenaCapacity: Int
}

/// The values of one property for up to 256 consecutive rows.
///
/// A leaf can be read from any thread; it is written only by the one holder of its only reference.
final class Leaf: ManagedBuffer<LeafHeader, UInt64> {
  /// How many rows a leaf spans.
  static let rowCount = 256
  /// How many words the presence bits take.
  static let bitWords = 4

  /// Whether no row has a value.
  var isEmpty: Bool { head.pointee.present == 0 }

  /// An empty leaf with room for at least these rows and bytes.
  static func make(
    kind: ColumnKind, entity: EntityNumber, rows: Int, arenaCapacity: Int
  ) -> Leaf {
    let rowCapacity = rows <= 16 ? 16 : rows <= 64 ? 64 : rowCount
    let storage = kind.storage
    let isBytes = storage == .bytes
    let arena = isBytes ? arenaCapacity : 0
    let fixed = fixedWords(kind: kind, rowCapacity: rowCapacity)
    let words = fixed + (arena + 7) / 8
    let buffer = Leaf.create(minimumCapacity: words) { _ in
      LeafHeader(
        storage: storage, kind: kind, tag: kind.tag ?? .null, entity: kind == .object ? entity : 0,
        arenaOffset: 8 * (isBytes ? fixed : bitWords), rowCapacity: rowCapacity,
        arenaCapacity: arena)
    }
    let leaf = unsafeDowncast(buffer, to: Leaf.self)
    leaf.words.initialize(repeating: 0, count: isBytes ? 2 * bitWords : bitWords)
    return leaf
  }

  /// The words before the arena.
  static func fixedWords(kind: ColumnKind, rowCapacity: Int) -> Int {
    switch kind.storage {
    case .words: bitWords + rowCapacity
    case .pairs: bitWords + 2 * rowCapacity
    case .bytes: 2 * bitWords + rowCapacity / 2 + (kind == .any ? rowCapacity / 8 : 0)
    }
  }

  /// What the leaf says of itself; valid while the leaf is.
  ///
  /// In place of `header`, each use of which would check for exclusive access.
  @inline(__always)
  var head: UnsafeMutablePointer<LeafHeader> { withUnsafeMutablePointerToHeader { $0 } }

  /// The first word; valid while the leaf is.
  @inline(__always)
  var words: UnsafeMutablePointer<UInt64> { withUnsafeMutablePointerToElements { $0 } }

  /// Where each row's bytes end in the arena.
  @inline(__always)
  var ends: UnsafeMutablePointer<UInt32> {
    UnsafeMutableRawPointer(words + 2 * Leaf.bitWords).assumingMemoryBound(to: UInt32.self)
  }

  /// The tag of each row's value, in a leaf of kind `any`.
  @inline(__always)
  var tags: UnsafeMutablePointer<UInt8> {
    UnsafeMutableRawPointer(ends + head.pointee.rowCapacity).assumingMemoryBound(to: UInt8.self)
  }

  /// The bytes that cells point into.
  @inline(__always)
  var arena: UnsafeMutableRawPointer {
    UnsafeMutableRawPointer(words) + head.pointee.arenaOffset
  }

  /// The bytes that cells point into, with their count.
  var arenaBytes: UnsafeRawBufferPointer {
    switch head.pointee.storage {
    case .words: UnsafeRawBufferPointer(start: nil, count: 0)
    case .pairs: UnsafeRawBufferPointer(start: arena, count: head.pointee.rows * 16)
    case .bytes: UnsafeRawBufferPointer(start: arena, count: head.pointee.arenaCount)
    }
  }

  /// Whether the row has a value.
  @inline(__always)
  func isPresent(_ slot: Int) -> Bool {
    words[slot >> 6] & (1 << UInt64(slot & 63)) != 0
  }

  /// Where the row's bytes are in the arena; for leaves of bytes and slots below `rows`.
  @inline(__always)
  func span(_ slot: Int) -> Range<Int> {
    let start = slot == 0 ? 0 : Int(ends[slot - 1])
    return start..<Int(ends[slot])
  }

  /// How much memory the leaf takes.
  var byteCount: Int {
    let fixed = Leaf.fixedWords(kind: head.pointee.kind, rowCapacity: head.pointee.rowCapacity) * 8
    return 16 + MemoryLayout<LeafHeader>.size + fixed + head.pointee.arenaCapacity
  }
}

extension Leaf {
  /// The value of a row; null where there is none. Its bytes are in `arenaBytes`.
  @inline(__always)
  func cell(_ slot: Int) -> ValueCell {
    let head = self.head
    // Where all rows have a value, their bits need not be looked at.
    guard slot < head.pointee.rows, head.pointee.present == head.pointee.rows || isPresent(slot)
    else { return .null }
    switch head.pointee.storage {
    case .words:
      return ValueCell(
        tag: head.pointee.tag, bits: words[Leaf.bitWords + slot], length: head.pointee.entity)
    case .pairs: return ValueCell(tag: .uuid, bits: UInt64(slot * 16), length: 16)
    case .bytes:
      return head.pointee.kind == .any ? anyCell(slot) : bytesCell(head.pointee.tag, slot)
    }
  }

  /// The value of a row with the address of its bytes, or `null`. Adds the first byte to `sum`.
  @inline(__always)
  func directCell(_ slot: Int, null: DirectCell, _ sum: inout UInt8) -> DirectCell {
    let head = self.head
    guard slot < head.pointee.rows, head.pointee.present == head.pointee.rows || isPresent(slot)
    else { return null }
    switch head.pointee.storage {
    case .words:
      return DirectCell(
        ValueCell(
          tag: head.pointee.tag, bits: words[Leaf.bitWords + slot], length: head.pointee.entity))
    case .pairs:
      let address = arena + 16 * slot
      sum &+= address.load(as: UInt8.self)
      return DirectCell(ValueCell(tag: .uuid, bits: UInt64(UInt(bitPattern: address)), length: 16))
    case .bytes:
      var cell = head.pointee.kind == .any ? anyCell(slot) : bytesCell(head.pointee.tag, slot)
      guard head.pointee.kind != .any || cell.usesArena else { return DirectCell(cell) }
      let address = arena + Int(cell.bits)
      if cell.length > 0 { sum &+= address.load(as: UInt8.self) }
      cell.bits = UInt64(UInt(bitPattern: address))
      return DirectCell(cell)
    }
  }

  @inline(__always)
  private func bytesCell(_ tag: ValueTag, _ slot: Int) -> ValueCell {
    let span = self.span(slot)
    return ValueCell(
      tag: tag, bits: UInt64(span.lowerBound), length: UInt32(truncatingIfNeeded: span.count),
      isLarge: head.pointee.hasLarge && isLarge(slot))
  }

  /// Whether the row's bytes describe a large value.
  func isLarge(_ slot: Int) -> Bool {
    words[Leaf.bitWords + slot >> 6] & (1 << UInt64(slot & 63)) != 0
  }

  /// The value of a row of a leaf of kind `any`.
  private func anyCell(_ slot: Int) -> ValueCell {
    bytesCell(ValueTag(rawValue: tags[slot]) ?? .null, slot)
      .ofAny(in: UnsafeRawBufferPointer(start: arena, count: head.pointee.arenaCount))
  }
}

extension ValueCell {
  /// The cell whose bytes this one has, as a column of any type keeps them.
  @inline(__always)
  func ofAny(in arena: UnsafeRawBufferPointer) -> ValueCell {
    switch tag {
    case .erased: return .erased
    case .bool, .int, .double, .date, .day:
      let word = arena.loadUnaligned(fromByteOffset: Int(bits), as: UInt64.self)
      return ValueCell(tag: tag, bits: UInt64(littleEndian: word))
    case .object:
      let reference = ObjectReference(bytes: arena, at: Int(bits))
      return ValueCell(
        tag: .object, bits: UInt64(bitPattern: reference.row), length: reference.entity)
    default: return self
    }
  }
}
