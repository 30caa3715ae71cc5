import AnnalsFormat
import AnnalsModel

/// The result of comparing a key with the held bytes of another.
enum KeyOrder {
  case before
  case after
  /// What is held is the beginning of the key, or all of it.
  case matches
}

/// Compares a key with the held bytes of another, which are never longer than that key.
@inline(__always)
func compare(_ key: UnsafeRawBufferPointer, held: UnsafeRawBufferPointer) -> KeyOrder {
  let common = min(key.count, held.count)
  var index = 0
  // Eight bytes at a time: keys share their tag and often more.
  while common - index >= 8 {
    let a = key.loadUnaligned(fromByteOffset: index, as: UInt64.self)
    let b = held.loadUnaligned(fromByteOffset: index, as: UInt64.self)
    if a != b { return a.bigEndian < b.bigEndian ? .before : .after }
    index += 8
  }
  while index < common {
    if key[index] != held[index] { return key[index] < held[index] ? .before : .after }
    index += 1
  }
  return key.count < held.count ? .before : .matches
}

extension UnsafeRawBufferPointer {
  /// The first eight bytes as a number that orders as they do, with zeros for missing ones.
  @inline(__always) var head: UInt64 {
    if count >= 8 { return loadUnaligned(as: UInt64.self).bigEndian }
    var head: UInt64 = 0
    for index in 0..<count { head |= UInt64(self[index]) << UInt64(56 - 8 * index) }
    return head
  }
}

/// How many bytes two keys share at their beginning.
@inline(__always)
func sharedLength(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
  let limit = min(a.count, b.count)
  var index = 0
  while index < limit, a[index] == b[index] { index += 1 }
  return index
}

extension IndexEntries {
  /// The bytes of an entry's key within `bytes`.
  @inline(__always)
  func range(_ index: Int) -> Range<Int> {
    (index == 0 ? 0 : Int(ends[index - 1]))..<Int(ends[index])
  }

  mutating func reserve(_ count: Int, bytes byteCount: Int) {
    ends.reserveCapacity(count)
    rows.reserveCapacity(count)
    bytes.reserveCapacity(byteCount)
  }

  /// Appends an entry.
  @inline(__always)
  mutating func append(_ key: UnsafeRawBufferPointer, row: Int64) {
    bytes.append(contentsOf: key)
    ends.append(UInt32(bytes.count))
    rows.append(row)
  }

  /// Appends a run of other entries.
  mutating func append(_ run: Range<Int>, of other: IndexEntries) {
    guard !run.isEmpty else { return }
    let span = other.range(run.lowerBound).lowerBound..<Int(other.ends[run.upperBound - 1])
    // How far the ends move, perhaps down.
    let distance = UInt32(truncatingIfNeeded: bytes.count - span.lowerBound)
    let first = ends.count
    bytes.append(contentsOf: other.bytes[span])
    ends.append(contentsOf: other.ends[run])
    rows.append(contentsOf: other.rows[run])
    if distance == 0 { return }
    ends.withUnsafeMutableBufferPointer { ends in
      for index in first..<ends.count { ends[index] &+= distance }
    }
  }

  /// Whether two keys next to each other are equal.
  var hasEqualNeighbours: Bool {
    bytes.withUnsafeBytes { all in
      (0..<max(0, count - 1)).contains { index in
        let (a, b) = (range(index), range(index + 1))
        return a.count == b.count
          && compare(
            UnsafeRawBufferPointer(rebasing: all[a]),
            held: UnsafeRawBufferPointer(rebasing: all[b])) == .matches
      }
    }
  }

  /// Ends an entry whose key was appended to `bytes`.
  @inline(__always)
  mutating func endEntry(row: Int64) {
    ends.append(UInt32(bytes.count))
    rows.append(row)
  }

  /// These entries in the order of their keys, entries with equal keys in that of their rows.
  func sorted() -> IndexEntries {
    guard count > 1 else { return self }
    return bytes.withUnsafeBytes { all in
      // All keys begin with the same bytes; the next eight decide nearly always.
      var common = range(0).count
      let first = UnsafeRawBufferPointer(rebasing: all[range(0)])
      for index in 1..<count {
        let key = UnsafeRawBufferPointer(rebasing: all[range(index)])
        let limit = min(common, key.count)
        var shared = 0
        while shared < limit, first[shared] == key[shared] { shared += 1 }
        common = shared
      }
      var order = ContiguousArray<(word: UInt64, index: Int)>()
      order.reserveCapacity(count)
      for index in 0..<count {
        let key = range(index)
        order.append((word(all, key.lowerBound + common, key.upperBound), index))
      }
      if count > 1024 {
        radixSort(&order)
        var start = 0
        for end in 1...count where end == count || order[end].word != order[start].word {
          // What the words do not decide.
          if end - start > 1 { order[start..<end].sort { precedes($0.index, $1.index, all) } }
          start = end
        }
      } else {
        order.sort { a, b in
          if a.word != b.word { return a.word < b.word }
          return precedes(a.index, b.index, all)
        }
      }
      return inOrder(order, all)
    }
  }

  /// These entries in the order of the indexes given.
  private func inOrder(
    _ order: ContiguousArray<(word: UInt64, index: Int)>, _ all: UnsafeRawBufferPointer
  ) -> IndexEntries {
    var result = IndexEntries()
    result.rows = ContiguousArray(unsafeUninitializedCapacity: count) { output, filled in
      for (place, entry) in order.enumerated() {
        output.initializeElement(at: place, to: rows[entry.index])
      }
      filled = count
    }
    var ends = ContiguousArray<UInt32>()
    ends.reserveCapacity(count)
    result.bytes = ContiguousArray(unsafeUninitializedCapacity: all.count) { output, filled in
      let output = UnsafeMutableRawBufferPointer(output)
      for (_, index) in order {
        let key = range(index)
        UnsafeMutableRawBufferPointer(rebasing: output[filled..<filled + key.count])
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: all[key]))
        filled += key.count
        ends.append(UInt32(filled))
      }
    }
    result.ends = ends
    return result
  }

  private func word(_ all: UnsafeRawBufferPointer, _ start: Int, _ end: Int) -> UInt64 {
    if end - start >= 8 {
      return all.loadUnaligned(fromByteOffset: start, as: UInt64.self).bigEndian
    }
    var word: UInt64 = 0
    for index in 0..<max(0, end - start) {
      word |= UInt64(all[start + index]) << UInt64(56 - 8 * index)
    }
    return word
  }

  private func precedes(_ a: Int, _ b: Int, _ all: UnsafeRawBufferPointer) -> Bool {
    let keyA = UnsafeRawBufferPointer(rebasing: all[range(a)])
    let keyB = UnsafeRawBufferPointer(rebasing: all[range(b)])
    let shared = sharedLength(keyA, keyB)
    if shared < keyA.count, shared < keyB.count { return keyA[shared] < keyB[shared] }
    return keyA.count != keyB.count ? keyA.count < keyB.count : rows[a] < rows[b]
  }
}
