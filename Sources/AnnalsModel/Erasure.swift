/// What a transaction erased (`Store.erase`): of each object all values that it had up to and with
/// that transaction, or those of some of its properties.
///
/// It names objects by their rows and properties by their numbers, never by a value. When and by
/// whom it was done, the transaction says.
public struct Erasure: Hashable, Sendable {
  /// One object, and what of it was erased.
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
  /// Why, as was said.
  public let reason: String

  package init(_ targets: [Target], reason: String) {
    self.targets = targets.sorted { $0.object < $1.object }
    self.reason = reason
  }

  /// The most bytes of a reason.
  package static let longestReason = 4_096
}
