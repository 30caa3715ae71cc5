import AnnalsInspector

/// Where a shared log is: `nats://HOST:PORT/STREAM`, with more servers of the cluster after commas.
struct LogAddress: Equatable {
  /// The URL of each server: `nats://HOST:PORT`.
  var servers: [String]
  var stream: String

  /// Reads an address. Throws a usage failure for anything else.
  init(_ text: String) throws(CommandFailure) {
    let schemes = ["nats", "tls"]
    guard let colon = text.firstRange(of: "://"),
      schemes.contains(String(text[..<colon.lowerBound])),
      let slash = text[colon.upperBound...].lastIndex(of: "/")
    else { throw LogAddress.fault(text) }
    let scheme = text[..<colon.upperBound]
    let hosts = text[colon.upperBound..<slash].split(
      separator: ",", omittingEmptySubsequences: false)
    stream = String(text[text.index(after: slash)...])
    servers = hosts.map { host in
      schemes.contains { host.hasPrefix("\($0)://") } ? String(host) : String(scheme) + host
    }
    let isWhole = hosts.allSatisfy { !$0.isEmpty && !$0.hasSuffix("/") }
    guard !stream.isEmpty, !stream.contains("?"), isWhole else { throw LogAddress.fault(text) }
  }

  private static func fault(_ text: String) -> CommandFailure {
    CommandFailure(
      "`\(withoutPassword(text))` is no address of a log; write nats://HOST:4222/STREAM, or "
        + "nats://HOST1:4222,HOST2:4222/STREAM", status: .usage)
  }

  /// The address without what stands before an @, for messages.
  static func withoutPassword(_ text: String) -> String {
    text.replacing(/[^\/,]*@/, with: "")
  }

  /// The address as it is shown: without passwords.
  var text: String {
    let hosts = servers.map { server in
      LogAddress.withoutPassword(server).replacing(/^(nats|tls):\/\//, with: "")
    }
    let scheme = servers.contains { $0.hasPrefix("tls") } ? "tls" : "nats"
    return "\(scheme)://\(hosts.joined(separator: ","))/\(stream)"
  }
}
