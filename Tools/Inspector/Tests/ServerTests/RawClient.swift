import FlyingSocks
import Foundation

/// A connection that sends any bytes, as no browser would.
final class RawClient {
  private let socket: Socket
  /// Whether the descriptor is not its own any more.
  private var isClosed = false

  init(port: UInt16) throws {
    socket = try Socket(domain: Int32(AF_INET))
    try socket.connect(to: sockaddr_in.inet(ip4: "127.0.0.1", port: port))
    var wait = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(
      socket.file.rawValue, SOL_SOCKET, SO_RCVTIMEO, &wait,
      socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close() }

  func close() {
    if !isClosed { try? socket.close() }
    isClosed = true
  }

  /// Makes the room for what was received small.
  func shrinkWindow() {
    var size: Int32 = 4_096
    setsockopt(
      socket.file.rawValue, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Sends text. Throws if the other side has closed the connection.
  func send(_ text: String) throws {
    let bytes = Data(text.utf8)
    var start = 0
    while start < bytes.count { start = try socket.write(bytes, from: start) }
  }

  /// The next bytes; nil at the end.
  func read() -> [UInt8]? {
    guard let bytes = try? socket.read(atMost: 65_536) else { return nil }
    return bytes
  }

  /// One answer: its status, its headers with names in small letters, and its body.
  func answer(toHead isHead: Bool = false) -> RawAnswer? {
    var bytes: [UInt8] = []
    let mark = Array("\r\n\r\n".utf8)
    var end: Int?
    while end == nil {
      guard let more = read() else { return nil }
      bytes += more
      end = (0...max(0, bytes.count - 4)).first { Array(bytes[$0...].prefix(4)) == mark }
    }
    guard let end else { return nil }
    let lines = String(decoding: bytes[..<end], as: UTF8.self).components(separatedBy: "\r\n")
    var answer = RawAnswer(status: Int(lines[0].split(separator: " ")[1]) ?? 0)
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      answer.headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
    }
    answer.body = Array(bytes[(end + 4)...])
    let length = isHead ? 0 : Int(answer.headers["content-length"] ?? "0") ?? 0
    while answer.body.count < length, let more = read() { answer.body += more }
    return answer
  }
}

/// An answer as it came.
struct RawAnswer {
  var status: Int
  var headers: [String: String] = [:]
  var body: [UInt8] = []

  var text: String { String(decoding: body, as: UTF8.self) }
}
