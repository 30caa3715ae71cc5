// The standard library's closures over the bytes of arrays lose the type of the error.

/// What a closure returned or threw. Used in place of `Result`, whose conformances the runtime
/// would look up when a file is first opened.
@usableFromInline @frozen
enum Outcome<Value, Fault: Error> {
  case value(Value)
  case fault(Fault)

  @inlinable @inline(__always)
  init(_ body: () throws(Fault) -> Value) {
    do throws(Fault) {
      self = .value(try body())
    } catch {
      self = .fault(error)
    }
  }

  @inlinable @inline(__always)
  func get() throws(Fault) -> Value {
    switch self {
    case .value(let value): return value
    case .fault(let fault): throw fault
    }
  }
}

extension ContiguousArray<UInt8> {
  /// Calls `body` with the array's bytes; its error keeps its type.
  @inlinable @inline(__always)
  package func withBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try withUnsafeBytes { bytes in Outcome { () throws(E) in try body(bytes) } }.get()
  }

  /// Calls `body` with the array's bytes for changing; its error keeps its type.
  @inlinable @inline(__always)
  package mutating func withMutableBytes<R, E: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try withUnsafeMutableBytes { bytes in Outcome { () throws(E) in try body(bytes) } }.get()
  }
}

extension ContiguousArray where Element: BitwiseCopyable {
  /// Creates an array with room for `count` elements, of which `fill` initializes as many as it
  /// returns. If it throws, its error keeps its type.
  @inlinable @inline(__always)
  package init<E: Error>(
    count: Int, filling fill: (UnsafeMutableBufferPointer<Element>) throws(E) -> Int
  ) throws(E) {
    var fault: E?
    // With no capacity it would write its length into the empty array that all threads share.
    self.init(unsafeUninitializedCapacity: Swift.max(count, 1)) { buffer, filled in
      do throws(E) {
        filled = try fill(UnsafeMutableBufferPointer(rebasing: buffer[..<count]))
      } catch {
        fault = error
      }
    }
    if let fault { throw fault }
  }
}
