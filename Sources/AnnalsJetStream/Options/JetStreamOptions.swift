#if JetStream

/// Where a `JetStreamLog` is, and how to reach it.
public struct JetStreamOptions: Sendable {
  /// What to do about the streams when connecting.
  public enum Opening: Hashable, Sendable {
    /// Use the stream that is there; refuse if there is none.
    case existing
    /// Make the streams that are missing, and use those that are there.
    case creating
  }

  /// How to say who is connecting. A user and a password, or a token, can stand in the URLs.
  public enum Identity: Hashable, Sendable {
    /// As the URLs say.
    case none
    /// A file of credentials, as `nsc` makes them: a JWT and the seed of its NKey.
    case credentials(file: String)
    /// An NKey: its public part, which begins with `U`, and the file of its seed.
    case nkey(publicKey: String, seedFile: String)
  }

  /// How the connection is encrypted. Servers are always verified.
  public struct TLS: Hashable, Sendable {
    /// The file of the trusted authorities; nil for those of the system.
    public var authorities: String?
    /// The file of this client's chain of certificates, for servers that ask for one.
    public var certificate: String?
    /// The file of the certificate's private key.
    public var key: String?
    /// The name that the servers' certificates must have; nil for the one in the URL.
    public var hostname: String?

    /// Encrypts, with certificates from these files (PEM).
    public init(
      authorities: String? = nil, certificate: String? = nil, key: String? = nil,
      hostname: String? = nil
    ) {
      self.authorities = authorities
      self.certificate = certificate
      self.key = key
      self.hostname = hostname
    }
  }

  /// URLs of servers of one cluster, `nats://host:4222` or `tls://host:4222`. Others of the cluster
  /// are found by themselves.
  public var servers: [String]
  /// The name of the stream: letters, digits, `-` and `_`. Its objects are in a second one, with
  /// `-objects` after the name.
  public var stream: String
  /// What the subjects begin with; nil for `annals.` and the name of the stream.
  public var subject: String?
  /// What to do about the streams when connecting.
  public var opening = Opening.existing
  /// How many servers keep each record, 1, 3 or 5. A stream that fewer keep is refused.
  public var replicas = 1
  /// Who is connecting.
  public var identity = Identity.none
  /// How the connection is encrypted; nil if it is not, or if the URLs alone say so.
  public var tls: TLS?
  /// The domain of JetStream, for leaf nodes; nil for the servers' own.
  public var domain: String?
  /// What the subjects of answers begin with, for accounts that restrict them.
  public var inboxPrefix = "_INBOX"
  /// The name of this connection, for whoever looks at the servers.
  public var name = "annals"
  /// Whether connecting succeeds while no server can be reached. Calls throw `.unavailable` until
  /// one can.
  public var startsOffline = false
  /// How long connecting may take, with the making of streams.
  public var connectTimeout = Duration.seconds(10)
  /// How long to wait for the answer to a request.
  public var requestTimeout = Duration.seconds(5)
  /// The pause before servers are tried again.
  public var reconnectWait = Duration.milliseconds(250)
  /// How often the connection is tried when nothing comes. After two pings without an answer it
  /// counts as lost.
  public var pingInterval = Duration.seconds(5)
  /// How often `growth` looks by itself, in case that a notice was lost.
  public var pollInterval = Duration.seconds(10)

  /// Options for a stream that is there; set what else is wanted.
  public init(servers: [String], stream: String) {
    self.servers = servers
    self.stream = stream
  }

  /// Options for a stream that is there, at this address.
  public init(_ address: JetStreamAddress) {
    self.init(servers: address.servers, stream: address.stream)
  }
}

extension JetStreamOptions {
  /// Why nothing can be made of these options; nil if something can.
  var fault: String? {
    if servers.isEmpty { return "there is no URL of a server" }
    if !stream.isName { return "\(stream) is no name of a stream: use letters, digits, - and _" }
    if let subject,
      !subject.split(separator: ".", omittingEmptySubsequences: false)
        .allSatisfy({ String($0).isName })
    {
      return "\(subject) is no subject: use letters, digits, - and _ between dots"
    }
    if let domain, !domain.isName { return "\(domain) is no domain" }
    if ![1, 3, 5].contains(replicas) { return "a stream has 1, 3 or 5 replicas, not \(replicas)" }
    return nil
  }
}

extension String {
  /// Whether this can be the name of a stream, or a part of a subject.
  var isName: Bool {
    !isEmpty && utf8.count <= 128
      && utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }
}

#endif
