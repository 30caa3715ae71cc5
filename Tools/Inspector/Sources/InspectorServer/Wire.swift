import FlyingSocks
import Foundation

/// One connection: reads heads of requests and writes answers, each within a time.
final class Wire: @unchecked Sendable {
  // One task at a time uses it.
  private let socket: AsyncSocket
  private var buffer: [UInt8] = []

  init(_ socket: AsyncSocket) { self.socket = socket }

  /// What ends a connection.
  enum End: Error {
    /// The other side has closed it.
    case closed
    /// The other side is too slow.
    case tooSlow
  }

  /// The next head of a request. Throws `End`, and `RequestFlaw`.
  ///
  /// `idle` is how long the first byte may take, `whole` all of it from then on.
  func nextHead(idle: Duration, whole: Duration) async throws -> RequestHead {
    if buffer.isEmpty { try await within(idle) { try await self.readMore() } }
    return try await within(whole) {
      while true {
        if let end = self.headEnd {
          let head = Array(self.buffer[..<end])
          self.buffer.removeFirst(end + 4)
          return try RequestHead(head)
        }
        guard self.buffer.count <= RequestHead.longest else { throw RequestFlaw.tooLarge }
        try await self.readMore()
      }
    }
  }

  /// Where the empty line behind a head begins; nil if it has not arrived.
  private var headEnd: Int? {
    buffer.firstRange(of: [0x0D, 0x0A, 0x0D, 0x0A])?.lowerBound
  }

  private func readMore() async throws {
    do {
      buffer += try await socket.read(atMost: 4_096)
    } catch SocketError.disconnected {
      throw End.closed
    }
  }

  /// Writes bytes, piece by piece; each must be accepted within `pace`, all within `whole`.
  func write(_ bytes: Data, pace: Duration, whole: Duration) async throws {
    try await within(whole) {
      var start = bytes.startIndex
      while start < bytes.endIndex {
        let end = bytes.index(start, offsetBy: 64 << 10, limitedBy: bytes.endIndex)
        let piece = Data(bytes[start..<(end ?? bytes.endIndex)])
        try await self.within(pace) { try await self.socket.write(piece) }
        start = end ?? bytes.endIndex
      }
    }
  }

  /// Returns when the other side closes the connection, or sends something.
  func waitForEnd() async throws -> Bool {
    do {
      let bytes = try await socket.read(atMost: 1_024)
      buffer += bytes
      return false
    } catch SocketError.disconnected {
      return true
    }
  }

  private func within<T: Sendable>(
    _ duration: Duration, _ body: @escaping @Sendable () async throws -> T
  ) async throws -> T {
    try await withThrowingTaskGroup(of: T?.self) { group in
      group.addTask { try await body() }
      group.addTask {
        try await Task.sleep(for: duration)
        return nil
      }
      defer { group.cancelAll() }
      guard let first = try await group.next(), let value = first else { throw End.tooSlow }
      return value
    }
  }
}
