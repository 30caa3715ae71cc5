/// A finding of a verification, or of the opening of a store.
public struct StoreFinding: Sendable, Hashable {
  /// The severity of a finding.
  public enum Severity: Sendable, Hashable {
    /// Data is wrong or cannot be read.
    case error
    /// Derived or unused data is damaged, or a crash left something; everything acknowledged can be
    /// read.
    case warning
    /// Worth knowing; nothing is wrong.
    case note
  }

  /// How bad it is.
  public let severity: Severity
  /// What was found, and what to do about it.
  public let message: String
  /// Where in the file it is, in bytes; nil if it has no place.
  public let offset: UInt64?
  /// How many bytes of the file, from `offset` on, were skipped because of it.
  public let skippedBytes: UInt64

  package init(
    severity: Severity, message: String, offset: UInt64? = nil, skippedBytes: UInt64 = 0
  ) {
    self.severity = severity
    self.message = message
    self.offset = offset
    self.skippedBytes = skippedBytes
  }
}
