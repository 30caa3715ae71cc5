import AnnalsFormat
import AnnalsModel

/// Decoding the payloads of transaction and block frames.
enum FrameDecoding {
  /// Whether frames of this kind hold transactions.
  static func holdsTransactions(_ kind: FrameKind) -> Bool {
    kind == .transaction || kind == .block
  }

  /// Appends the transactions in the payload of a transaction or block frame to the batch, which is
  /// as before if this throws.
  static func decode(
    _ payload: UnsafeRawBufferPointer, of header: FrameHeader, into batch: inout ChangeBatch
  ) throws(DecodeFault) {
    if header.kind == .transaction {
      try TransactionCodec.decode(payload, into: &batch)
    } else {
      let isContinued = header.flags.contains(.continued)
      try BlockCodec.decode(payload, isContinued: isContinued, into: &batch)
    }
  }
}

extension Int64 {
  /// The number behind this one.
  var successor: Int64 { self + 1 }
}
