import AnnalsEngine
import AnnalsModel

/// What the deletion of a record type's object left: the values of the properties that are
/// preserved after deletion.
///
/// They are read by the names of the record's properties: `try tombstone.identifier`. A property
/// that is not preserved, or had no value, is nil.
@dynamicMemberLookup
public struct Tombstone<R: Record>: Sendable {
  private let change: RecordChange<R>

  fileprivate init(_ change: RecordChange<R>) { self.change = change }

  /// The object that was deleted.
  public var objectID: ObjectID { change.objectID }

  /// The value that a preserved property had; nil if it had none, or is not preserved.
  ///
  /// Throws `.unreadableRecord` if the value is none of the property's type; `.damaged`, `.lost` or
  /// `.io` if the bytes of a large one cannot be read.
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
  /// What the deletion of a record type's object left, by the properties of the record; nil for
  /// other changes, and for objects of other entities. No value is read before it is asked for.
  public func tombstone<R: Record>(as type: R.Type) -> Tombstone<R>? {
    guard kind == .delete, let change = self.as(type) else { return nil }
    return Tombstone(change)
  }
}
