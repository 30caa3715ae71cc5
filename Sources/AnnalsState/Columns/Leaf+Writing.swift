import AnnalsFormat
import AnnalsModel

extension Leaf {
  /// Gives a row a value.
  ///
  /// The leaf is created, copied if it is shared, grown, or converted to hold several kinds, as
  /// needed. `declared` is the kind of the column. False, and nothing changed, if the column does
  /// not admit the value or the leaf would hold more bytes than it can count.
  static func set(
    _ leaf: inout Leaf?, slot: Int, to cell: ValueCell, in arena: UnsafeRawBufferPointer,
    declared: ColumnKind
  ) -> Bool {
    guard declared.admits(cell.tag) else { return false }
    if isKnownUniquelyReferenced(&leaf) {
      // The caller's variable keeps the leaf: retaining it as well would cost as much as the rest.
      let held = withUnsafePointer(to: &leaf) {
        UnsafeRawPointer($0).load(as: Unmanaged<Leaf>?.self)
      }
      if let held, held._withUnsafeGuaranteedRef({ $0.putInPlace(cell, in: arena, slot: slot) }) {
        return true
      }
    }
    guard let current = leaf else {
      // A column of any kind holds one kind most of the time, so its leaf begins with that.
      // An erased value is none of any one kind.
      let own = declared == .any ? ColumnKind(rawValue: cell.tag.rawValue) : declared
      guard let kind = cell.tag == .erased ? .any : own else { return false }
      let new = make(
        kind: kind, entity: cell.tag == .object ? cell.length : 0, rows: slot + 1,
        arenaCapacity: kind.storage == .bytes ? Int(cell.length) : 0)
      new.put(cell, in: arena, slot: slot)
      leaf = new
      return true
    }
    if !current.holds(cell) {
      guard declared == .any || declared == .object || cell.tag == .erased else { return false }
      let converted = current.convertedToAny()
      leaf = converted
      return set(&leaf, slot: slot, to: cell, in: arena, declared: declared)
    }
    let growth = current.head.pointee.storage == .bytes ? current.encodedLength(cell) : 0
    guard growth <= maximumArena - current.head.pointee.arenaCount else { return false }
    let copy = current.copied(rows: slot + 1, growth: growth)
    copy.put(cell, in: arena, slot: slot)
    leaf = copy
    return true
  }

  /// Puts a value into a row if the leaf can hold it where it is; only for the leaf's one holder.
  @inline(__always)
  private func putInPlace(
    _ cell: ValueCell, in arena: UnsafeRawBufferPointer, slot: Int
  ) -> Bool {
    guard holds(cell), slot < head.pointee.rowCapacity else { return false }
    if head.pointee.storage == .bytes,
      encodedLength(cell) > head.pointee.arenaCapacity - head.pointee.arenaCount
    {
      return false
    }
    put(cell, in: arena, slot: slot)
    return true
  }

  /// Takes a row's value away; a leaf left without any becomes nil, unless it is to be kept.
  static func clear(_ leaf: inout Leaf?, slot: Int, keepsLeaf: Bool = false) {
    let isUnique = isKnownUniquelyReferenced(&leaf)
    guard let current = leaf, current.isPresent(slot) else { return }
    if current.head.pointee.present == 1, !keepsLeaf {
      leaf = nil
    } else if isUnique {
      current.remove(slot)
    } else {
      let copy = current.copied(rows: 0, growth: 0)
      copy.remove(slot)
      leaf = copy
    }
  }

  /// The most bytes that a leaf's arena may hold, so that ends fit.
  static let maximumArena = Int(Int32.max)

  /// Whether the leaf can hold the value as it is.
  @inline(__always)
  func holds(_ cell: ValueCell) -> Bool {
    if head.pointee.kind == .any { return true }
    guard head.pointee.tag == cell.tag else { return false }
    return cell.tag != .object || head.pointee.entity == cell.length
  }

  /// The count of bytes that the value takes in the arena of this leaf.
  @inline(__always)
  func encodedLength(_ cell: ValueCell) -> Int {
    switch cell.tag {
    case .null: 0
    case .bool, .int, .double, .date, .day: 8
    case .object: ObjectReference.byteCount
    default: Int(cell.length)
    }
  }

  /// A leaf with the same values that nobody else holds, with room for more.
  func copied(rows: Int, growth: Int) -> Leaf {
    let old = head.pointee
    let isBytes = old.storage == .bytes
    let copy = Leaf.make(
      kind: old.kind, entity: old.entity, rows: max(rows, old.rows),
      arenaCapacity: isBytes ? old.grownArena(by: growth) : 0)
    let new = copy.words
    new.update(from: words, count: isBytes ? 2 * Leaf.bitWords : Leaf.bitWords)
    switch old.storage {
    case .words:
      (new + Leaf.bitWords).update(from: words + Leaf.bitWords, count: old.rows)
    case .pairs:
      (new + Leaf.bitWords).update(from: words + Leaf.bitWords, count: 2 * old.rows)
    case .bytes:
      copy.ends.update(from: ends, count: old.rows)
      if old.kind == .any { copy.tags.update(from: tags, count: old.rows) }
      copy.arena.copyMemory(from: arena, byteCount: old.arenaCount)
    }
    copy.head.pointee.rows = old.rows
    copy.head.pointee.present = old.present
    copy.head.pointee.arenaCount = old.arenaCount
    copy.head.pointee.garbage = old.garbage
    copy.head.pointee.hasLarge = old.hasLarge
    return copy
  }

  /// A leaf with the same values that can hold any kind.
  func convertedToAny() -> Leaf {
    let old = head.pointee
    let bytes = old.storage == .bytes ? old.arenaCount : 16 * old.rows
    let result = Leaf.make(kind: .any, entity: 0, rows: old.rows, arenaCapacity: bytes)
    for slot in 0..<old.rows {
      let cell = self.cell(slot)
      if !cell.isNull { result.put(cell, in: arenaBytes, slot: slot) }
    }
    return result
  }
}

extension ValueCell {
  /// Whether the cell says that there is no value: null, or a to-many list without a reference,
  /// which the state holds to be the same.
  @inline(__always) var isAbsence: Bool { tag == .null || (tag == .objects && length == 0) }
}

extension LeafHeader {
  /// How much room an arena should have when it must take `growth` more bytes: little beyond that
  /// once the leaf is full, room for the rows to come before.
  func grownArena(by growth: Int) -> Int {
    let needed = arenaCount + growth
    if needed <= arenaCapacity { return arenaCapacity }
    if rows >= Leaf.rowCount { return needed + needed / 16 }
    guard rows >= 32 else { return min(needed * 2, needed + 4096) }
    return max(needed, min(needed * 2, needed / rows * (Leaf.rowCount + 4)))
  }
}

// What follows changes a leaf in place: only for its one holder, and with the room made before.
extension Leaf {
  /// Puts a value that the leaf holds into a row.
  @inline(__always)
  func put(_ cell: ValueCell, in source: UnsafeRawBufferPointer, slot: Int) {
    let head = self.head
    switch head.pointee.storage {
    case .words: words[Leaf.bitWords + slot] = cell.bits
    case .pairs: Leaf.copy(cell, 16, from: source, to: arena + slot * 16)
    case .bytes: putBytes(cell, in: source, slot: slot)
    }
    let bit: UInt64 = 1 << UInt64(slot & 63)
    let old = words[slot >> 6]
    if old & bit == 0 {
      words[slot >> 6] = old | bit
      head.pointee.present += 1
    }
    if slot >= head.pointee.rows { head.pointee.rows = slot + 1 }
  }

  /// Copies the bytes of a cell, of which there are `count`.
  @inline(__always)
  static func copy(
    _ cell: ValueCell, _ count: Int, from source: UnsafeRawBufferPointer,
    to target: UnsafeMutableRawPointer
  ) {
    let start = Int(truncatingIfNeeded: cell.bits)
    precondition(start >= 0 && count <= source.count - start, "a cell outside its arena")
    guard count > 0, let base = source.baseAddress else { return }
    target.copyMemory(from: base + start, byteCount: count)
  }

  private func putBytes(_ cell: ValueCell, in source: UnsafeRawBufferPointer, slot: Int) {
    let length = encodedLength(cell)
    let target = arena + makeSpan(slot, length: length)
    switch cell.tag {
    case .bool, .int, .double, .date, .day:
      target.storeBytes(of: cell.bits.littleEndian, as: UInt64.self)
    case .object:
      target.storeBytes(of: cell.length.littleEndian, as: UInt32.self)
      (target + 4).storeBytes(of: cell.bits.littleEndian, as: UInt64.self)
    default: Leaf.copy(cell, length, from: source, to: target)
    }
    if head.pointee.kind == .any { tags[slot] = cell.tag.rawValue }
    if cell.isLarge || head.pointee.hasLarge { setLarge(slot, cell.isLarge) }
  }

  func setLarge(_ slot: Int, _ isLarge: Bool) {
    let bit: UInt64 = 1 << UInt64(slot & 63)
    if isLarge {
      words[Leaf.bitWords + slot >> 6] |= bit
      head.pointee.hasLarge = true
    } else {
      words[Leaf.bitWords + slot >> 6] &= ~bit
    }
  }

  /// Gives the row a span of so many bytes, moving those behind it, and returns where it starts.
  @inline(__always)
  private func makeSpan(_ slot: Int, length: Int) -> Int {
    let head = self.head
    let ends = self.ends
    let rows = head.pointee.rows
    let used = head.pointee.arenaCount
    if slot >= rows {
      for empty in rows..<slot { ends[empty] = UInt32(truncatingIfNeeded: used) }
      ends[slot] = UInt32(truncatingIfNeeded: used + length)
      head.pointee.arenaCount = used + length
      return used
    }
    let span = self.span(slot)
    if !isPresent(slot) { head.pointee.garbage -= span.count }
    let delta = length - span.count
    if delta != 0 {
      let tail = arena + span.upperBound
      (tail + delta).copyMemory(from: tail, byteCount: used - span.upperBound)
      // Room for `used + delta` was made, so no end leaves 32 bits.
      let change = Int32(truncatingIfNeeded: delta)
      for later in slot..<rows { ends[later] &+= UInt32(bitPattern: change) }
      head.pointee.arenaCount = used + delta
    }
    return span.lowerBound
  }

  /// Takes away the value of a row that has one.
  func remove(_ slot: Int) {
    words[slot >> 6] &= ~(1 << UInt64(slot & 63))
    head.pointee.present -= 1
    guard head.pointee.storage == .bytes else { return }
    if head.pointee.hasLarge { setLarge(slot, false) }
    let span = self.span(slot)
    if slot == head.pointee.rows - 1 {
      head.pointee.rows = slot
      head.pointee.arenaCount = span.lowerBound
    } else {
      head.pointee.garbage += span.count
    }
    let garbage = head.pointee.garbage
    if garbage > 512, garbage > head.pointee.arenaCount / 2 { removeGarbage() }
  }

  /// Moves the bytes of the rows that have a value together.
  func removeGarbage() {
    let arena = self.arena
    var end = 0
    var start = 0
    for slot in 0..<head.pointee.rows {
      let oldEnd = Int(ends[slot])
      if isPresent(slot) {
        (arena + end).copyMemory(from: arena + start, byteCount: oldEnd - start)
        end += oldEnd - start
      }
      ends[slot] = UInt32(end)
      start = oldEnd
    }
    head.pointee.arenaCount = end
    head.pointee.garbage = 0
  }
}
