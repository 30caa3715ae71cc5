// Rules of the interface that a program may break, and no data can.

/// Stops the program with a message unless the caller keeps to a rule of the interface.
///
/// Unlike `precondition`, this prints the message in optimised programs too.
@inlinable @inline(__always)
package func insist(
  _ isKept: Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID,
  line: UInt = #line
) {
  if !isKept { stop(message(), file: file, line: line) }
}

/// Stops the program: the caller broke a rule of the interface.
@inline(never) @usableFromInline
package func stop(
  _ message: String, file: StaticString = #fileID, line: UInt = #line
) -> Never {
  fatalError(message, file: file, line: line)
}
