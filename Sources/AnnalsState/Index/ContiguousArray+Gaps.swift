// Elements put into the middle of an array, and taken out, in place.

extension ContiguousArray where Element: BitwiseCopyable {
  /// Takes some elements out. Keeps no more memory than for twice the others and `spare`.
  mutating func close(_ range: Range<Int>, spare: Int) {
    let rest = count - range.upperBound
    withUnsafeMutableBufferPointer { all in
      guard let start = all.baseAddress else { return }
      (start + range.lowerBound).update(from: start + range.upperBound, count: rest)
    }
    removeLast(range.count)
    trim(spare)
  }

  /// As the other form, of one element.
  mutating func close(at place: Int, spare: Int) {
    let rest = count - place - 1
    withUnsafeMutableBufferPointer { all in
      guard let start = all.baseAddress else { return }
      (start + place).update(from: start + place + 1, count: rest)
    }
    removeLast()
    trim(spare)
  }

  /// Keeps no more memory than for twice the elements and `spare`.
  private mutating func trim(_ spare: Int) {
    guard capacity > 2 * (count + spare) else { return }
    let all = self
    self = []
    reserveCapacity(all.count)
    append(contentsOf: all)
  }

  /// Puts elements before the one at a place. An array that must grow gets memory for `spare` more,
  /// and not for twice as many.
  mutating func insert(
    _ others: UnsafeBufferPointer<Element>, at place: Int, spare: Int
  ) {
    let rest = count - place
    if capacity < count + others.count { reserveCapacity(count + others.count + spare) }
    // They are behind the others until those are moved.
    append(contentsOf: others)
    if rest == 0 { return }
    withUnsafeMutableBufferPointer { all in
      guard let start = all.baseAddress, let new = others.baseAddress else { return }
      (start + place + others.count).update(from: start + place, count: rest)
      (start + place).update(from: new, count: others.count)
    }
  }

  /// Puts an element before the one at a place.
  mutating func insert(_ other: Element, at place: Int, spare: Int) {
    let rest = count - place
    if capacity == count { reserveCapacity(count + 1 + spare) }
    append(other)
    if rest == 0 { return }
    withUnsafeMutableBufferPointer { all in
      guard let start = all.baseAddress else { return }
      (start + place + 1).update(from: start + place, count: rest)
      start[place] = other
    }
  }
}
