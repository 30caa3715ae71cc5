import AnnalsJetStream

extension JetStreamAddress {
  /// Reads an argument. Throws a usage failure for anything that is no address of a log.
  init(argument text: String) throws(CommandFailure) {
    guard let address = JetStreamAddress(text) else {
      throw CommandFailure(
        "`\(JetStreamAddress.withoutPassword(text))` is no address of a log; write "
          + "nats://HOST:4222/STREAM, or nats://HOST1:4222,HOST2:4222/STREAM", status: .usage)
    }
    self = address
  }
}
