/// A stream of bytes that can be read once: a file, a pipe, a decompressed stream, memory.
///
/// Only one thread may use it at a time.
package protocol ByteSource: AnyObject {
  /// Reads at least one byte into `buffer`, which is not empty. Returns the number of bytes read; 0
  /// only at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputFault) -> Int
}

/// What is wrong with input, and where.
package struct InputFault: Error, Hashable, Sendable {
  /// The offset of the faulty byte in the decompressed input.
  package var offset: UInt64
  /// The line of that byte, from 1; 0 where lines are not counted.
  package var line: Int
  /// The position of that byte in its line, from 1; 0 where lines are not counted.
  package var column: Int
  package var reason: String

  package init(offset: UInt64, line: Int = 0, column: Int = 0, reason: String) {
    self.offset = offset
    self.line = line
    self.column = column
    self.reason = reason
  }
}

/// A source of bytes in memory, read in steps of a given size so that tests reach every boundary.
package final class MemorySource: ByteSource {
  private let bytes: ContiguousArray<UInt8>
  private let step: Int
  private var position = 0

  /// A source of these bytes that returns at most `step` at a time.
  package init(_ bytes: some Sequence<UInt8>, step: Int = .max) {
    precondition(step > 0)
    self.bytes = ContiguousArray(bytes)
    self.step = step
  }

  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputFault) -> Int {
    let count = min(step, buffer.count, bytes.count - position)
    bytes.withUnsafeBytes { all in
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: all[position..<position + count]))
    }
    position += count
    return count
  }
}
