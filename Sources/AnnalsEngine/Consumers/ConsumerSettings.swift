import AnnalsFormat
import AnnalsModel

/// Settings of a consumer; nil keeps those that it has.
package struct ConsumerSettings {
  private let kind: String?
  private let isBlocking: Bool?
  private let lease: ConsumerLease?

  package init(kind: String?, isBlocking: Bool?, lease: ConsumerLease?) {
    self.kind = kind
    self.isBlocking = isBlocking
    self.lease = lease
  }

  /// Whether all are kept.
  var areEmpty: Bool { kind == nil && isBlocking == nil && lease == nil }

  /// The consumer with these settings.
  func applied(to consumer: ConsumerState) -> ConsumerState {
    var result = consumer
    if let kind { result.kind = kind }
    if let isBlocking { result.isBlocking = isBlocking }
    if let lease { result.lease = lease.length }
    return result
  }

  /// Throws `.invalidArgument` for a name or kind that the file cannot hold.
  func requireFit(_ name: String) throws(AnnalsError) {
    let limit = FormatLimits.maximumConsumerText
    let length = kind?.utf8.count ?? 0
    guard !name.isEmpty, name.utf8.count <= limit, length <= limit else {
      throw AnnalsError(
        .invalidArgument,
        "a consumer has a name of 1 to \(limit) bytes of UTF-8, and a kind of at most \(limit); "
          + "`\(name.prefix(40))` has \(name.utf8.count), its kind \(length)")
    }
  }
}
