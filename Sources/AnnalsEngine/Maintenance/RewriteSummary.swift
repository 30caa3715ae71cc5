/// The result of a rewrite of the file.
public struct RewriteSummary: Sendable {
  /// The size of the file before, in bytes.
  public let bytesBefore: UInt64
  /// The size of the file after, in bytes; the same as before if nothing was gained.
  public let bytesAfter: UInt64
  /// Whether the file was rewritten; false if nothing would have been gained.
  public let isRewritten: Bool
}

extension RewriteSummary: CustomStringConvertible {
  /// The sizes of the file: `20480 bytes, were 65536`.
  public var description: String {
    isRewritten ? "\(bytesAfter) bytes, were \(bytesBefore)" : "\(bytesAfter) bytes, not rewritten"
  }
}
