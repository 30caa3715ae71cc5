import AnnalsModel
import AnnalsState

// Index entries of the transaction's own changes: each look-up and each query finds them, and pays
// for those since the one before.

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
    try AnnalsError.translating { () throws(StateFault) in
      try reader.state.updateUniqueIndexes(of: entity)
    }
  }

  /// Brings all index entries of the transaction's own changes to where queries find them.
  package func mergePendingEntries() throws(AnnalsError) {
    checkOpen()
    try AnnalsError.translating { () throws(StateFault) in
      try reader.state.updateIndexes()
    }
  }
}
