// The standard library's `withUnsafeBytes` of arrays loses the type of the error.

/// What a closure returned or threw. Used in place of `Result`, whose conformances the runtime
/// would look up when a file is first opened.
private enum Outcome<Value, Fault> {
  case value(Value)
  case fault(Fault)
}

extension ContiguousArray<UInt8> {
  /// Calls `body` with the array's bytes; its error keeps its type.
  @inline(__always)
  func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    let result = withUnsafeBytes { bytes -> Outcome<R, E> in
      do throws(E) {
        return .value(try body(bytes))
      } catch {
        return .fault(error)
      }
    }
    switch result {
    case .value(let value): return value
    case .fault(let fault): throw fault
    }
  }

  /// Calls `body` with the array's bytes for changing; its error keeps its type.
  @inline(__always)
  mutating func withMutableBytes<R, E: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    let result = withUnsafeMutableBytes { bytes -> Outcome<R, E> in
      do throws(E) {
        return .value(try body(bytes))
      } catch {
        return .fault(error)
      }
    }
    switch result {
    case .value(let value): return value
    case .fault(let fault): throw fault
    }
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
