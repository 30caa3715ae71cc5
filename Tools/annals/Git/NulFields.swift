import Foundation

/// Reads fields that end in a zero byte from a running git.
struct NulFields {
  private let process: GitProcess
  private var buffer = Data()
  private var position = 0

  /// The fields in the output of a process.
  init(_ process: GitProcess) { self.process = process }

  /// The next field without its zero byte; nil after the last.
  ///
  /// - Throws: `CommandFailure` for a field longer than 64 MiB.
  mutating func next() throws -> Data? {
    var searched = position
    while true {
      if let end = buffer[searched...].firstIndex(of: 0) {
        defer { position = end + 1 }
        return buffer[position..<end]
      }
      searched = buffer.endIndex
      guard buffer.count - position <= 64 << 20 else {
        throw CommandFailure("git wrote a field of more than 64 MiB")
      }
      if position > 0 {
        searched -= position
        buffer = Data(buffer[position...])
        position = 0
      }
      let more = try process.read()
      if more.isEmpty {
        if position < buffer.endIndex { throw CommandFailure("git's output is cut off") }
        return nil
      }
      buffer.append(more)
    }
  }
}
