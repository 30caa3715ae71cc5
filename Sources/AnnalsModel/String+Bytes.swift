// Strings are their UTF-8 bytes.

extension String {
  /// Whether both strings are the same UTF-8 bytes; unlike `==`, which holds canonically equivalent
  /// strings equal.
  @inlinable
  package func hasSameBytes(as other: String) -> Bool {
    // Most different strings differ in length, which is quick to compare.
    let (a, b) = (utf8, other.utf8)
    guard a.count == b.count else { return false }
    let isSame = a.withContiguousStorageIfAvailable { a in
      b.withContiguousStorageIfAvailable { b in
        UnsafeRawBufferPointer(a).hasSameBytes(as: UnsafeRawBufferPointer(b))
      }
    }
    return (isSame ?? nil) ?? a.elementsEqual(b)
  }

  /// Whether this string's UTF-8 bytes come before the other's.
  @inlinable
  package func precedesInBytes(_ other: String) -> Bool {
    utf8.lexicographicallyPrecedes(other.utf8)
  }
}
