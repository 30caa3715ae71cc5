import AnnalsEngine
import AnnalsModel

/// The tombstone of a record type's object: the values of its properties that are preserved after
/// deletion.
///
/// Read them by the record's properties: `try tombstone.identifier`. A property that is not
/// preserved, or had no value, is nil.
@dynamicMemberLookup
public struct Tombstone<R: Record>: Sendable {
  private let change: RecordChange<R>

  fileprivate init(_ change: RecordChange<R>) { self.change = change }

  /// The deleted object.
  public var objectID: ObjectID { change.objectID }

  /// The value of a preserved property; nil if it had none, or is not preserved.
  ///
  /// Throws `.unreadableRecord` if the value does not fit the property's type; `.damaged`, `.lost`
  /// or `.io` if the bytes of a large value cannot be read.
  public subscript<V: AttributeValue>(dynamicMember keyPath: KeyPath<R, V>) -> V? {
    get throws(AnnalsError) { isPreserved(keyPath) ? try change.before(keyPath) : nil }
  }

  /// As the other form, of an optional property.
  public subscript<V: AttributeValue>(dynamicMember keyPath: KeyPath<R, V?>) -> V?
  where V?: AttributeValue {
    get throws(AnnalsError) { isPreserved(keyPath) ? try change.before(keyPath) ?? nil : nil }
  }

  private func isPreserved(_ keyPath: PartialKeyPath<R>) -> Bool {
    guard let number = change.binding.property(keyPath) else { return false }
    return change.change.entity.attributes.contains {
      $0.number == number && $0.isPreservedAfterDeletion
    }
  }
}

extension Change {
  /// The tombstone of a deleted object of the record type; nil for other changes, and for objects
  /// of other entities. Reads no values until they are asked for.
  public func tombstone<R: Record>(as type: R.Type) -> Tombstone<R>? {
    guard kind == .delete, let change = self.as(type) else { return nil }
    return Tombstone(change)
  }
}
