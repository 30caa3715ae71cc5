import AnnalsModel
import AnnalsState

// Looking objects up by unique keys, with those of the transaction's own changes.

extension WriteTransaction {
  /// The row of the object whose unique attribute has this value; nil if there is none.
  package func row(
    of entity: Entity, where attribute: String, is value: Value
  ) throws(AnnalsError) -> Int64? {
    try mergePendingKeys(of: entity.number)
    return try reader.row(of: entity, where: attribute, is: value)
  }

  /// Brings the unique keys of the transaction's own changes to where look-ups find them.
  package func mergePendingKeys(of entity: EntityNumber) throws(AnnalsError) {
    checkOpen()
    // With no key at all this finds nothing; it brings the indexes of the entity up to date.
    try AnnalsError.translating { () throws(StateFault) in
      _ = try reader.state.updatingLookup(
        entity, rule: 0, key: [], in: UnsafeRawBufferPointer(start: nil, count: 0))
    }
  }
}
