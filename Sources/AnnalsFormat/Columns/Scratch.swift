/// Memory that a codec uses again for one column after another. Contents are undefined after
/// `take`; elements are plain bits.
struct Scratch<Element>: ~Copyable {
  private var buffer = UnsafeMutableBufferPointer<Element>(start: nil, count: 0)

  init() {}

  deinit { buffer.deallocate() }

  /// Room for `count` elements, replacing what was taken before.
  mutating func reserve(_ count: Int) -> UnsafeMutableBufferPointer<Element> {
    if count > buffer.count {
      buffer.deallocate()
      buffer = .allocate(capacity: max(count, 256))
    }
    return UnsafeMutableBufferPointer(rebasing: buffer[..<count])
  }
}
