import AnnalsModel

extension Change {
  /// The bytes of the named property before the transaction, unread; nil in the cases where
  /// `before(_:)` is null. Throws as `Snapshot.bytes(_:of:)` does.
  public func bytesBefore(_ name: String) throws(AnnalsError) -> StoredBytes? {
    try StoredBytes.make(before(name), page.glossary.largeValues, "\(entityName).\(name)")
  }

  /// The bytes of the named property after the transaction, unread; otherwise as `bytesBefore`.
  public func bytesAfter(_ name: String) throws(AnnalsError) -> StoredBytes? {
    try StoredBytes.make(after(name), page.glossary.largeValues, "\(entityName).\(name)")
  }

  /// The bytes of the property with this number before or after the change.
  package func bytes(
    of property: PropertyNumber, isBefore: Bool
  ) throws(AnnalsError) -> StoredBytes? {
    guard let difference = difference(of: property) else { return nil }
    return try StoredBytes.make(
      isBefore ? difference.before : difference.after, page.glossary.largeValues,
      "\(entityName).\(difference.name)")
  }
}
