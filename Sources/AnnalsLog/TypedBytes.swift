// The standard library's `withUnsafeBytes` of arrays forgets the type of what its closure throws.

extension ContiguousArray<UInt8> {
  /// Calls `body` with the array's bytes; what it throws keeps its type.
  @inline(__always)
  func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    let result = withUnsafeBytes { bytes -> Result<R, E> in
      do throws(E) {
        return .success(try body(bytes))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Calls `body` with the array's bytes, which it may change; what it throws keeps its type.
  @inline(__always)
  mutating func withMutableBytes<R, E: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    let result = withUnsafeMutableBytes { bytes -> Result<R, E> in
      do throws(E) {
        return .success(try body(bytes))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}

extension UnsafeRawBufferPointer {
  /// Whether all bytes are zero.
  var isZero: Bool {
    var offset = 0
    while count - offset >= 32 {
      let a = loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      let b = loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
      let c = loadUnaligned(fromByteOffset: offset + 16, as: UInt64.self)
      let d = loadUnaligned(fromByteOffset: offset + 24, as: UInt64.self)
      if a | b | c | d != 0 { return false }
      offset += 32
    }
    while offset < count {
      if self[offset] != 0 { return false }
      offset += 1
    }
    return true
  }
}
