import AnnalsModel

/// What a block says of its contents before its columns: enough for history to skip it.
package struct BlockSummary: Sendable {
  /// The numbers of the first and of the last transaction; the same for a part.
  package var firstNumber: Int64
  package var lastNumber: Int64
  /// Whether this is a part of one transaction of several frames, and which, from 0.
  package var isPart: Bool
  package var part: UInt32
  /// The least and the greatest timestamp among the transactions.
  package var minimumTimestamp: Timestamp
  package var maximumTimestamp: Timestamp
  /// How many changes there are, of all entities.
  package var changeCount: Int
  /// Every author and every context that a transaction has, rising; 0 stands for none.
  package var authors: [NameNumber] = []
  package var contexts: [NameNumber] = []
  /// One for each entity that a change is of, rising by number.
  package var entities: [EntitySummary] = []

  /// What a block holds of one entity.
  package struct EntitySummary: Sendable {
    package var entity: EntityNumber
    package var changeCount: Int
    package var minimumRow: Int64
    package var maximumRow: Int64
    /// The kinds of change that occur: bit 0 insert, bit 1 update, bit 2 delete.
    package var kinds: UInt8
    /// The properties that changes list, rising.
    package var properties: [PropertyNumber]

    package init(
      entity: EntityNumber, changeCount: Int, minimumRow: Int64, maximumRow: Int64, kinds: UInt8,
      properties: [PropertyNumber]
    ) {
      self.entity = entity
      self.changeCount = changeCount
      self.minimumRow = minimumRow
      self.maximumRow = maximumRow
      self.kinds = kinds
      self.properties = properties
    }
  }
}
