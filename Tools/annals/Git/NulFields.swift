import Foundation

/// Fields that each end in a zero byte, read from a running git.
struct NulFields {
  private let process: GitProcess
  private var buffer = Data()
  private var position = 0

  /// The fields that the process writes.
  init(_ process: GitProcess) { self.process = process }

  /// The next field without its end; nil when there is none.
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
