/// The head of a request of HTTP/1.1, as far as the server needs it.
struct RequestHead: Hashable {
  var method: String
  /// What follows the host in the address, up to the question mark; never decoded.
  var path: String
  /// What follows the question mark.
  var query: String
  /// The headers with names in small letters. Of one that is repeated, all values.
  var headers: [String: [String]]
  /// Whether the connection stays open behind the answer.
  var keepsAlive: Bool

  /// The value of a header that may stand once; nil if it is missing.
  func value(_ name: String) -> String? { headers[name]?.first }
}

/// Why a request is refused before anybody looks at what it asks for.
enum RequestFlaw: Error, Hashable {
  case malformed
  case tooLarge
  case hasBody
  case method
  case version

  /// The status of the answer.
  var status: Int {
    switch self {
    case .malformed: 400
    case .tooLarge: 431
    case .hasBody: 413
    case .method: 405
    case .version: 505
    }
  }
}

extension RequestHead {
  /// The most bytes that a head may have.
  static let longest = 32 << 10
  /// The most lines of headers.
  static let mostHeaders = 100

  /// Reads a head from its bytes, up to and without the empty line.
  ///
  /// Strict: what is ambiguous is refused, not repaired.
  init(_ bytes: [UInt8]) throws(RequestFlaw) {
    guard bytes.count <= RequestHead.longest else { throw .tooLarge }
    guard bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7F || $0 == 0x0D || $0 == 0x0A || $0 == 0x09 })
    else { throw .malformed }
    var lines: [Substring] = []
    let text = String(decoding: bytes, as: UTF8.self)
    for line in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false) {
      guard line.last == 0x0D || line.endIndex == text.utf8.endIndex else { throw .malformed }
      let rest = line.last == 0x0D ? line.dropLast() : line
      guard !rest.contains(0x0D) else { throw .malformed }
      lines.append(Substring(rest))
    }
    guard let first = lines.first else { throw .malformed }
    let parts = first.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw .malformed }
    guard parts[2] == "HTTP/1.1" || parts[2] == "HTTP/1.0" else {
      throw parts[2].hasPrefix("HTTP/") ? .version : .malformed
    }
    method = String(parts[0])
    let target = parts[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let path = target.first, path.hasPrefix("/") else { throw .malformed }
    self.path = String(path)
    query = target.count > 1 ? String(target[1]) : ""
    headers = [:]
    keepsAlive = parts[2] == "HTTP/1.1"
    try read(lines.dropFirst())
  }

  private mutating func read(_ lines: some Collection<Substring>) throws(RequestFlaw) {
    guard lines.count <= RequestHead.mostHeaders else { throw .tooLarge }
    for line in lines {
      guard let colon = line.firstIndex(of: ":") else { throw .malformed }
      let name = line[..<colon].lowercased()
      // A name with a space before the colon, or a line that goes on with the one before.
      guard !name.isEmpty, !name.contains(where: { $0 == " " || $0 == "\t" }) else {
        throw .malformed
      }
      let value = line[line.index(after: colon)...].trimmed
      headers[name, default: []].append(String(value))
    }
    for name in ["host", "content-length", "transfer-encoding", "origin", "sec-fetch-site"]
    where headers[name]?.count ?? 0 > 1 {
      throw .malformed
    }
    if let connection = value("connection")?.lowercased() {
      if connection.contains("close") { keepsAlive = false }
    }
    guard method == "GET" || method == "HEAD" else { throw .method }
    if value("transfer-encoding") != nil { throw .hasBody }
    if let length = value("content-length"), length != "0" { throw .hasBody }
  }
}

extension Substring {
  /// Without white space at its ends.
  fileprivate var trimmed: Substring {
    var result = self
    while result.first == " " || result.first == "\t" { result.removeFirst() }
    while result.last == " " || result.last == "\t" { result.removeLast() }
    return result
  }
}
