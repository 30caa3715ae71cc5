import AnnalsModel

/// Encodes and decodes a retention policy: in a frame of its own, and in a directory.
///
/// FORMAT.md, "Retention".
package enum RetentionCodec {
  private static let hasAge: UInt8 = 1
  private static let hasTransactions: UInt8 = 2

  /// Appends the payload of a frame, or the item of a directory.
  package static func encode(_ policy: RetentionPolicy, into bytes: inout ContiguousArray<UInt8>) {
    bytes.append(
      (policy.age == nil ? 0 : hasAge) | (policy.transactions == nil ? 0 : hasTransactions))
    if let age = policy.age { bytes.append(varInt: UInt64(bitPattern: age)) }
    if let count = policy.transactions { bytes.append(varInt: UInt64(bitPattern: count)) }
  }

  /// Reads what `encode` wrote.
  static func decode(_ reader: inout ByteReader) throws(DecodeFault) -> RetentionPolicy {
    let flags = try reader.readFlags(known: hasAge | hasTransactions)
    var policy = RetentionPolicy()
    if flags & hasAge != 0 { policy.age = try readPositive(&reader) }
    if flags & hasTransactions != 0 { policy.transactions = try readPositive(&reader) }
    return policy
  }

  private static func readPositive(_ reader: inout ByteReader) throws(DecodeFault) -> Int64 {
    let number = try reader.readVarInt64()
    guard number > 0 else { throw reader.invalid("a retention of nothing") }
    return number
  }
}
