#if JetStream

import CNATS

/// The C library's options for a connection.
final class NATSSettings {
  private(set) var pointer: OpaquePointer?

  /// Fills in the options. `number` is what callbacks bring.
  init(
    _ options: JetStreamOptions, servers: [String], number: Int, retrying: Bool
  ) throws(NATSFailure) {
    try check(natsOptions_Create(&pointer), "options")
    // The URLs of the options may say who is connecting; those that a connection has found do not.
    try setServers(servers + options.servers.filter { !servers.contains($0) })
    try check(natsOptions_SetNoRandomize(pointer, !servers.isEmpty), "the URLs")
    try setIdentity(options.identity)
    try setTLS(options.tls)
    try check(natsOptions_SetName(pointer, options.name), "name")
    try check(
      natsOptions_SetTimeout(pointer, max(1, options.connectTimeout.milliseconds / 2)), "timeout")
    try check(natsOptions_SetMaxReconnect(pointer, -1), "reconnects")
    let wait = max(1, options.reconnectWait.milliseconds)
    try check(natsOptions_SetReconnectWait(pointer, wait), "reconnects")
    try check(natsOptions_SetReconnectJitter(pointer, wait, wait), "reconnects")
    try check(
      natsOptions_SetPingInterval(pointer, max(1, options.pingInterval.milliseconds)), "pings")
    try check(natsOptions_SetMaxPingsOut(pointer, 2), "pings")
    // Requests are not kept for a later connection: they would arrive when nobody waits.
    try check(natsOptions_SetReconnectBufSize(pointer, 1), "buffer")
    // Requests leave at once; otherwise a thread of the library gathers them for a millisecond.
    try check(natsOptions_SetSendAsap(pointer, true), "sending")
    // A server that reads nothing blocks the queue for so long, and no task.
    try check(
      natsOptions_SetWriteDeadline(pointer, max(1, options.requestTimeout.milliseconds)), "sending")
    try setCallbacks(NATSRegistry.closure(number), retrying)
  }

  deinit {
    if let pointer { natsOptions_Destroy(pointer) }
  }

  private func setServers(_ servers: [String]) throws(NATSFailure) {
    let copies = servers.map { text in
      let bytes = Array(text.utf8CString)
      let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
      copy.initialize(from: bytes, count: bytes.count)
      return copy
    }
    defer { for copy in copies { copy.deallocate() } }
    var pointers = copies.map { Optional(UnsafePointer($0)) }
    try check(natsOptions_SetServers(pointer, &pointers, Int32(pointers.count)), "the URLs")
  }

  private func setIdentity(_ identity: JetStreamOptions.Identity) throws(NATSFailure) {
    switch identity {
    case .none: break
    case .credentials(let file):
      try check(natsOptions_SetUserCredentialsFromFiles(pointer, file, nil), "the credentials")
    case .nkey(let publicKey, let seedFile):
      try check(natsOptions_SetNKeyFromSeed(pointer, publicKey, seedFile), "the NKey")
    }
  }

  private func setTLS(_ tls: JetStreamOptions.TLS?) throws(NATSFailure) {
    guard let tls else { return }
    try check(natsOptions_SetSecure(pointer, true), "TLS")
    if let authorities = tls.authorities {
      try check(natsOptions_LoadCATrustedCertificates(pointer, authorities), authorities)
    }
    if let certificate = tls.certificate, let key = tls.key {
      try check(natsOptions_LoadCertificatesChain(pointer, certificate, key), certificate)
    }
    if let hostname = tls.hostname {
      try check(natsOptions_SetExpectedHostname(pointer, hostname), "the host's name")
    }
  }

  private func setCallbacks(
    _ closure: UnsafeMutableRawPointer?, _ retrying: Bool
  ) throws(NATSFailure) {
    let connected: natsConnectionHandler = { _, closure in
      NATSRegistry.connection(closure)?.connected()
    }
    try check(natsOptions_SetReconnectedCB(pointer, connected, closure), "callbacks")
    if retrying {
      try check(
        natsOptions_SetRetryOnFailedConnect(pointer, true, connected, closure), "callbacks")
    }
    try check(
      natsOptions_SetDisconnectedCB(
        pointer, { _, closure in NATSRegistry.connection(closure)?.disconnected() }, closure),
      "callbacks")
    try check(
      natsOptions_SetClosedCB(
        pointer, { _, closure in NATSRegistry.connection(closure)?.gaveUp() }, closure),
      "callbacks")
    // Without a handler the library writes to the standard error output.
    try check(natsOptions_SetErrorHandler(pointer, { _, _, _, _ in }, nil), "callbacks")
  }

  private func check(_ status: natsStatus, _ what: String) throws(NATSFailure) {
    guard status != NATS_OK else { return }
    throw .notSent("\(what): \(NATSConnection.text(of: status))")
  }
}

extension Duration {
  /// Whole milliseconds.
  var milliseconds: Int64 {
    components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
  }

  /// Whole nanoseconds.
  var nanoseconds: Int64 {
    components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
  }
}

#endif
