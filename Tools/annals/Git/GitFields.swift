import Foundation

/// Reads fields that end in the same byte from a running git, as they arrive.
struct GitFields {
  private let process: GitProcess
  private let end: UInt8
  private var buffer = Data()
  private var position = 0

  /// The fields in the output of a process.
  init(_ process: GitProcess, endingIn end: UInt8) {
    self.process = process
    self.end = end
  }

  /// The next field without its end; nil after the last.
  ///
  /// - Throws: `CommandFailure` for a field longer than 64 MiB.
  mutating func next() throws -> Data? {
    var searched = position
    while true {
      if let place = buffer[searched...].firstIndex(of: end) {
        defer { position = place + 1 }
        return buffer[position..<place]
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
      let more = process.readAvailable()
      if more.isEmpty {
        if position < buffer.endIndex { throw CommandFailure("git's output is cut off") }
        return nil
      }
      buffer.append(more)
    }
  }
}
