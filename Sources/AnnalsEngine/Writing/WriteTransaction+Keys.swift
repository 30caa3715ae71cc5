import AnnalsModel
import AnnalsState

// Index entries of the transaction's own changes. Each look-up and query finds them, and pays for
// the changes since the one before.

extension WriteTransaction {
  /// The row of the object whose unique attribute has this value; nil if there is none.
  package func row(
    of entity: Entity, where attribute: String, is value: Value
  ) throws(AnnalsError) -> Int64? {
    try mergePendingKeys(of: entity.number)
    return try reader.row(of: entity, where: attribute, is: value)
  }

  /// Merges the unique keys of the transaction's own changes into the index that look-ups search.
  package func mergePendingKeys(of entity: EntityNumber) throws(AnnalsError) {
    checkOpen()
    try AnnalsError.translating { () throws(StateFault) in
      try reader.state.updateUniqueIndexes(of: entity)
    }
  }

  /// Merges all index entries of the transaction's own changes into the indexes that queries
  /// search.
  package func mergePendingEntries() throws(AnnalsError) {
    checkOpen()
    try AnnalsError.translating { () throws(StateFault) in
      try reader.state.updateIndexes()
    }
  }
}
