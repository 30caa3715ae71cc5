/// Memory that a codec reuses for one column after another. Its contents are undefined after
/// `reserve`; elements are plain bits.
struct Scratch<Element>: ~Copyable {
  private var buffer = UnsafeMutableBufferPointer<Element>(start: nil, count: 0)

  init() {}

  deinit { buffer.deallocate() }

  /// Memory for `count` elements, in place of what was reserved before.
  mutating func reserve(_ count: Int) -> UnsafeMutableBufferPointer<Element> {
    if count > buffer.count {
      buffer.deallocate()
      buffer = .allocate(capacity: max(count, 256))
    }
    return UnsafeMutableBufferPointer(rebasing: buffer[..<count])
  }
}
