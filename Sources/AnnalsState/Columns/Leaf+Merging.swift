import AnnalsFormat
import AnnalsModel

// Many values are put into a leaf at once: one of texts is written anew from front to back, where
// putting in each by itself would move what is behind it each time.

extension Leaf {
  /// Puts values into a leaf, or takes them away, by rising slots; a leaf that is shared is copied,
  /// and one left without any value becomes nil. False if it would hold more bytes than it can
  /// count.
  static func merge(
    _ edits: ArraySlice<ColumnEdits.Edit>, in arena: UnsafeRawBufferPointer,
    into leaf: inout Leaf?
  ) -> Bool {
    if let current = leaf, current.head.pointee.storage == .bytes,
      current.head.pointee.kind != .any,
      edits.allSatisfy({ $0.cell.isAbsence || current.holds($0.cell) })
    {
      return current.merged(edits, in: arena, into: &leaf)
    }
    // The leaf of the caller may be shared: what is changed here is not, after its first copy.
    var result = leaf
    leaf = nil
    for edit in edits {
      let cell = edit.cell
      if cell.isAbsence {
        clear(&result, slot: edit.slot)
        continue
      }
      // Whether the column admits the value was asked before.
      let declared: ColumnKind =
        cell.tag == .object ? .object : cell.tag == .objects ? .objects : .any
      guard set(&result, slot: edit.slot, to: cell, in: arena, declared: declared) else {
        return false
      }
    }
    leaf = result
    return true
  }

  /// The merge for a leaf of bytes of one kind, which all values have.
  private func merged(
    _ edits: ArraySlice<ColumnEdits.Edit>, in source: UnsafeRawBufferPointer,
    into leaf: inout Leaf?
  ) -> Bool {
    let old = head.pointee
    var rows = old.rows
    var count = old.arenaCount - old.garbage
    for edit in edits {
      if isPresent(edit.slot) { count -= span(edit.slot).count }
      if edit.cell.isAbsence { continue }
      count += Int(edit.cell.length)
      rows = max(rows, edit.slot + 1)
    }
    guard count <= Leaf.maximumArena else { return false }
    let copy = Leaf.make(kind: old.kind, entity: old.entity, rows: rows, arenaCapacity: count)
    copy.words.update(from: words, count: 2 * Leaf.bitWords)
    var slot = 0
    var end = 0
    for edit in edits {
      // Behind the last row there is nothing to take away.
      guard edit.slot < rows else { break }
      copyValues(slot..<edit.slot, to: copy, &end)
      slot = edit.slot + 1
      let isPresent = !edit.cell.isAbsence
      copy.setPresent(edit.slot, isPresent)
      copy.setLarge(edit.slot, isPresent && edit.cell.isLarge)
      if isPresent {
        Leaf.copy(edit.cell, Int(edit.cell.length), from: source, to: copy.arena + end)
        end += Int(edit.cell.length)
      }
      copy.ends[edit.slot] = UInt32(truncatingIfNeeded: end)
    }
    copyValues(slot..<rows, to: copy, &end)
    let head = copy.head
    head.pointee.rows = rows
    head.pointee.arenaCount = end
    for word in 0..<Leaf.bitWords {
      head.pointee.present += copy.words[word].nonzeroBitCount
      if copy.words[Leaf.bitWords + word] != 0 { head.pointee.hasLarge = true }
    }
    leaf = head.pointee.present == 0 ? nil : copy
    return true
  }

  private func setPresent(_ slot: Int, _ isPresent: Bool) {
    let bit: UInt64 = 1 << UInt64(slot & 63)
    if isPresent { words[slot >> 6] |= bit } else { words[slot >> 6] &= ~bit }
  }

  /// Copies the bytes of these rows to a new leaf, at the end so far of its arena.
  private func copyValues(_ slots: Range<Int>, to copy: Leaf, _ end: inout Int) {
    let ends = self.ends
    let newEnds = copy.ends
    let bound = max(slots.lowerBound, min(slots.upperBound, head.pointee.rows))
    if slots.lowerBound < bound, head.pointee.garbage == 0 {
      let start = slots.lowerBound == 0 ? 0 : Int(ends[slots.lowerBound - 1])
      let count = Int(ends[bound - 1]) - start
      (copy.arena + end).copyMemory(from: arena + start, byteCount: count)
      let moved = Int32(truncatingIfNeeded: end - start)
      for slot in slots.lowerBound..<bound {
        newEnds[slot] = ends[slot] &+ UInt32(bitPattern: moved)
      }
      end += count
    } else {
      for slot in slots.lowerBound..<bound {
        if isPresent(slot) {
          let span = self.span(slot)
          (copy.arena + end).copyMemory(from: arena + span.lowerBound, byteCount: span.count)
          end += span.count
        }
        newEnds[slot] = UInt32(truncatingIfNeeded: end)
      }
    }
    for slot in bound..<slots.upperBound { newEnds[slot] = UInt32(truncatingIfNeeded: end) }
  }
}
