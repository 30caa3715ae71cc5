import Foundation

/// The lines that a running program prints to a pipe, as they come.
package final class ProgramLines: @unchecked Sendable {
  /// What the program is given as its output.
  package let pipe = Pipe()
  private let lock = NSLock()
  private var bytes = Data()
  private var isAtEnd = false

  package init() {
    Thread.detachNewThread { [self] in
      while !lock.withLock({ isAtEnd }) {
        let more = pipe.fileHandleForReading.availableData
        lock.withLock {
          bytes += more
          isAtEnd = more.isEmpty
        }
      }
    }
  }

  /// Waits for the next line; nil at the end of the output, or when the deadline of the test has
  /// passed.
  package func next() -> String? {
    var line: String?
    until {
      lock.withLock {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return isAtEnd }
        line = String(decoding: bytes[..<end], as: UTF8.self)
        bytes = Data(bytes[(end + 1)...])
        return true
      }
    }
    return line
  }
}
