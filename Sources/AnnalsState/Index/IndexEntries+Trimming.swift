import AnnalsFormat

extension IndexEntries {
  /// The entries with no more of each key than tells it from its neighbours and from the fences
  /// around, and `margin` bytes, which save reading columns.
  func trimmed(
    lower: some Collection<UInt8>, upper: ArraySlice<UInt8>?, margin: Int
  ) -> IndexEntries {
    guard count > 0 else { return self }
    var result = IndexEntries()
    result.reserve(count, bytes: min(bytes.count, count * 8))
    bytes.withUnsafeBytes { all in
      let first = UnsafeRawBufferPointer(rebasing: all[range(0)])
      // A fence that begins the key must stay; else the byte that differs.
      let shared = zip(lower, first).prefix { $0 == $1 }.count
      var before = shared == lower.count ? shared : shared + 1
      for index in 0..<count {
        let key = UnsafeRawBufferPointer(rebasing: all[range(index)])
        let behind: Int
        if index + 1 < count {
          behind = sharedLength(key, UnsafeRawBufferPointer(rebasing: all[range(index + 1)])) + 1
        } else {
          behind = upper.map { zip($0, key).prefix { $0 == $1 }.count + 1 } ?? 0
        }
        let needed = min(key.count, max(before, behind) + margin)
        result.append(UnsafeRawBufferPointer(rebasing: key[..<needed]), row: rows[index])
        before = behind
      }
    }
    return result
  }
}
