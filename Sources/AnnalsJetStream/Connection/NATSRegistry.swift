#if JetStream

import AnnalsStorage

/// The connections of this process by number. The C library carries the number, not a reference, so
/// that a call of it that comes late finds nothing instead of freed memory. The number of a request
/// may be with it.
enum NATSRegistry {
  private struct Content {
    var next = 1
    var connections: [Int: Entry] = [:]
  }

  private struct Entry {
    weak var connection: NATSConnection?
  }

  private static let content = Locked(Content())

  /// Registers a connection. Returns its number, never 0.
  static func add(_ connection: NATSConnection) -> Int {
    content.withLock { content in
      defer { content.next += 1 }
      content.connections[content.next] = Entry(connection: connection)
      return content.next
    }
  }

  /// What the C library carries for a connection, and for one of its requests.
  static func closure(_ number: Int, request: UInt64 = 0) -> UnsafeMutableRawPointer? {
    UnsafeMutableRawPointer(bitPattern: number << 40 | Int(truncatingIfNeeded: request & requests))
  }

  /// The lower 40 bits.
  private static let requests: UInt64 = (1 << 40) - 1

  /// The number of the request that the C library brings.
  static func request(_ closure: UnsafeMutableRawPointer?) -> UInt64 {
    UInt64(UInt(bitPattern: closure)) & requests
  }

  /// The connection that the C library brings; nil if it is gone.
  static func connection(_ closure: UnsafeMutableRawPointer?) -> NATSConnection? {
    let number = Int(bitPattern: closure) >> 40
    return content.withLock { $0.connections[number]?.connection }
  }

  static func remove(_ number: Int) {
    content.withLock { _ = $0.connections.removeValue(forKey: number) }
  }
}

#endif
