import AnnalsJetStream
import AnnalsReplication
import ArgumentParser

/// The arguments that say where the shared log is, and how to get at it.
struct LogArguments: ParsableArguments {
  @Option(
    name: .customLong("to"), parsing: .unconditional,
    help: "The log: nats://HOST:4222/STREAM. Default: $ANNALS_LOG.")
  var address: String?
  @Option(parsing: .unconditional, help: "A file of credentials, as nsc makes them.")
  var credentials: String?
  @Option(parsing: .unconditional, help: "The public part of an NKey; with --nkey-seed.")
  var nkey: String?
  @Option(parsing: .unconditional, help: "The file of the NKey's seed.") var nkeySeed: String?
  @Option(parsing: .unconditional, help: "The file of the authorities to trust (PEM).")
  var tlsAuthorities: String?
  @Option(parsing: .unconditional, help: "The file of this client's certificate (PEM).")
  var tlsCertificate: String?
  @Option(parsing: .unconditional, help: "The file of the certificate's private key (PEM).")
  var tlsKey: String?

  func validate() throws {
    if (nkey == nil) != (nkeySeed == nil) {
      throw ValidationError("--nkey and --nkey-seed go together")
    }
    if nkey != nil, credentials != nil {
      throw ValidationError("--credentials and --nkey exclude each other")
    }
    if (tlsCertificate == nil) != (tlsKey == nil) {
      throw ValidationError("--tls-certificate and --tls-key go together")
    }
  }

  /// The log's address; nil if none is given. Throws for one that cannot be read.
  func found(_ console: Console) throws(CommandFailure) -> JetStreamAddress? {
    let text = address ?? console.environment["ANNALS_LOG"] ?? ""
    return text.isEmpty ? nil : try JetStreamAddress(argument: text)
  }

  /// Connects to the log. `makes` has the count of servers that keep each record of a stream that
  /// is made if there is none; without it the stream must be there.
  func connect(
    to address: JetStreamAddress, makes: Int? = nil, startsOffline: Bool = false,
    within time: Duration
  ) async throws -> any SharedLog {
    #if JetStream
      var options = JetStreamOptions(address)
      options.startsOffline = startsOffline
      options.connectTimeout = min(options.connectTimeout, time)
      if let makes {
        options.opening = .creating
        options.replicas = makes
      }
      if let credentials { options.identity = .credentials(file: credentials) }
      if let nkey, let nkeySeed {
        options.identity = .nkey(publicKey: nkey, seedFile: nkeySeed)
      }
      if tlsAuthorities != nil || tlsCertificate != nil {
        options.tls = JetStreamOptions.TLS(
          authorities: tlsAuthorities, certificate: tlsCertificate, key: tlsKey)
      }
      return try await JetStreamLog.connect(options)
    #else
      throw CommandFailure(
        "this annals was built without NATS JetStream. From a copy of the sources, "
          + "Tools/install --jetstream installs one with it")
    #endif
  }
}
