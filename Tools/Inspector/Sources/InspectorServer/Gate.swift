/// Decides who may ask: requests of the page that the printed address opened, and nobody else's.
///
/// A browser sends requests of any page to this machine. So a request must name this server as its
/// host (a page whose name was bound to 127.0.0.1 names another), come from no other page, and have
/// the secret, which only the printed address gives away.
struct Gate: Sendable {
  let port: UInt16
  /// The secret of the printed address, and of the cookie.
  private let token: [UInt8]
  private let names: Set<String>

  init(port: UInt16, token: String) {
    self.port = port
    self.token = Array(token.utf8)
    names = ["127.0.0.1:\(port)", "localhost:\(port)", "[::1]:\(port)"]
  }

  /// What becomes of a request.
  enum Verdict: Equatable {
    /// It may ask.
    case admitted
    /// It has the secret in its address: it gets the cookie.
    case introduced
    /// It is for another host.
    case misdirected
    /// It comes from another page.
    case foreign
    /// It lacks the secret.
    case unknown
  }

  /// Judges a request.
  func verdict(on head: RequestHead) -> Verdict {
    guard let host = head.value("host")?.lowercased(), names.contains(host) else {
      return .misdirected
    }
    if let origin = head.value("origin"), origin != "http://\(host)" { return .foreign }
    if head.path == "/", let given = introduction(in: head.query) {
      // A link from anywhere may open the page, with the secret.
      return isToken(given) ? .introduced : .unknown
    }
    if let site = head.value("sec-fetch-site"), site != "same-origin", site != "none" {
      return .foreign
    }
    return hasCookie(head) ? .admitted : .unknown
  }

  private func introduction(in query: String) -> Substring? {
    for part in query.split(separator: "&") where part.hasPrefix("token=") {
      return part.dropFirst("token=".count)
    }
    return nil
  }

  /// The name of the cookie: servers on several ports share their cookies.
  private var cookieName: String { "annals-\(port)" }

  /// The header that gives the cookie.
  var cookie: String {
    "\(cookieName)=\(String(decoding: token, as: UTF8.self)); HttpOnly; SameSite=Strict; Path=/"
  }

  private func hasCookie(_ head: RequestHead) -> Bool {
    var isFound = false
    for header in head.headers["cookie"] ?? [] {
      for pair in header.split(separator: ";") {
        let parts = pair.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, parts[0].drop(while: { $0 == " " }) == cookieName else { continue }
        if isToken(parts[1]) { isFound = true }
      }
    }
    return isFound
  }

  /// Whether a text is the secret. Takes the same time wherever the two differ.
  func isToken(_ text: Substring) -> Bool {
    let given = Array(text.utf8)
    var difference = UInt8(given.count == token.count ? 0 : 1)
    for place in token.indices {
      difference |= token[place] ^ (place < given.count ? given[place] : 0)
    }
    return difference == 0
  }

  /// A new secret: 256 random bits.
  static func makeToken() -> String {
    var random = SystemRandomNumberGenerator()
    return (0..<4).map { _ in
      let word = String(random.next() as UInt64, radix: 16)
      return String(repeating: "0", count: 16 - word.count) + word
    }.joined()
  }
}
