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
