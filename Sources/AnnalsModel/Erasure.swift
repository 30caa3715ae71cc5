/// What a transaction erased (`Store.erase`): all values that objects had up to and including that
/// transaction, or those of some of their properties.
///
/// Names objects by row and properties by number, never by a value. The transaction says when and
/// by whom.
public struct Erasure: Hashable, Sendable {
  /// One object, and which of its properties were erased.
  public struct Target: Hashable, Sendable {
    /// The object.
    public let object: ObjectReference
    /// The numbers of the properties, rising; empty if the whole object was erased.
    public let properties: [PropertyNumber]

    package init(_ object: ObjectReference, properties: [PropertyNumber] = []) {
      self.object = object
      self.properties = properties.sorted()
    }
  }

  /// The objects, rising, each once.
  public let targets: [Target]
  /// The reason given.
  public let reason: String

  package init(_ targets: [Target], reason: String) {
    self.targets = targets.sorted { $0.object < $1.object }
    self.reason = reason
  }

  /// The most bytes of a reason.
  package static let longestReason = 4_096
}
