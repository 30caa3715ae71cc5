/// Where a shared log is, in one line: `nats://HOST:PORT/STREAM`, with more servers of the cluster
/// after commas.
///
/// `nats://10.0.0.1:4222,10.0.0.2:4222/books` is the stream `books` of two servers. A user and a
/// password may stand before an `@`; a server may have a scheme of its own, `nats` or `tls`.
public struct JetStreamAddress: Hashable, Sendable {
  /// The URL of each server: `nats://HOST:PORT`.
  public var servers: [String]
  /// The name of the stream.
  public var stream: String

  /// Reads an address; nil for anything else.
  public init?(_ text: String) {
    let schemes = ["nats", "tls"]
    guard let colon = text.firstRange(of: "://"),
      schemes.contains(String(text[..<colon.lowerBound])),
      let slash = text[colon.upperBound...].lastIndex(of: "/")
    else { return nil }
    let scheme = text[..<colon.upperBound]
    let hosts = text[colon.upperBound..<slash].split(
      separator: ",", omittingEmptySubsequences: false)
    stream = String(text[text.index(after: slash)...])
    servers = hosts.map { host in
      schemes.contains { host.hasPrefix("\($0)://") } ? String(host) : String(scheme) + host
    }
    let isWhole = hosts.allSatisfy { !$0.isEmpty && !$0.hasSuffix("/") }
    guard !stream.isEmpty, !stream.contains("?"), isWhole else { return nil }
  }

  /// A text without what stands before an `@`, for messages.
  package static func withoutPassword(_ text: String) -> String {
    text.replacing(/[^\/,]*@/, with: "")
  }
}

extension JetStreamAddress: CustomStringConvertible {
  /// The address as it may be shown: without users and passwords.
  public var description: String {
    let hosts = servers.map { server in
      JetStreamAddress.withoutPassword(server).replacing(/^(nats|tls):\/\//, with: "")
    }
    let scheme = servers.contains { $0.hasPrefix("tls") } ? "tls" : "nats"
    return "\(scheme)://\(hosts.joined(separator: ","))/\(stream)"
  }
}
