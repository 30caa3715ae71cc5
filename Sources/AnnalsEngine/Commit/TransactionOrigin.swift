import AnnalsFormat
import AnnalsModel

/// Everything a transaction records besides its changes, and how it is checked.
package struct TransactionOrigin: Sendable {
  package var author: String?
  package var context: String?
  package var metadata: [String: Value] = [:]
  /// The number that the transaction must get, where its order was decided elsewhere; nil for the
  /// next, whichever that is.
  package var number: Int64?
  /// The transaction's own timestamp, kept as it is; nil for the clock's.
  package var timestamp: Timestamp?
  /// The opening that the transaction names; nil for this one.
  package var opening: Opening?
  /// Whether to record the transaction even if nothing changed.
  package var isAlwaysRecorded = false
  /// Whether relationships may refer to objects that do not exist: for imports of stores that once
  /// allowed it.
  package var allowsDangling = false
  /// Whether required values may be missing: after a gap some are unknown.
  package var allowsMissing = false
  /// Whether values of derived attributes stay as they are given where the program lacks their
  /// function: for imports, whose lines have them.
  package var keepsGivenValues = false

  /// Whether the transaction is a migration: what the program requires anew may be missing until
  /// the last one.
  package private(set) var isMigration = false

  /// The features that the transaction uses and that the file may not have announced yet.
  package var features = Features.none
  /// The transaction's group, and what it undoes or redoes.
  package private(set) var undo = UndoRecord()
  /// The items of the record's extension area, but for what the clock says: what the transaction
  /// erases, its group, what it undoes, the migrations that it is.
  private(set) var extensions: ContiguousArray<UInt8> = []
}

extension TransactionOrigin {
  package init(author: String? = nil, context: String? = nil, metadata: [String: Value] = [:]) {
    // By way of the initialiser of all properties: one that sets some by themselves makes a copy.
    self.init(author: author, context: context, metadata: metadata, number: nil)
  }

  /// Of a transaction in a group, for undo. Throws `.invalidArgument` for a group without a name,
  /// or with one that is too long.
  package init(
    author: String?, context: String?, group: String?, metadata: [String: Value]
  ) throws(AnnalsError) {
    self.init(author: author, context: context, metadata: metadata)
    if let group { try note(UndoRecord(group: group)) }
  }

  /// Notes what the transaction erases, for its record.
  package mutating func note(_ erasure: Erasure) {
    ErasureCodec.append(erasure, to: &extensions)
    features.formUnion(.erasure)
  }

  /// Notes the migrations that the transaction is, for its record. Throws `.invalidArgument` for a
  /// name that a migration cannot have.
  package mutating func note(migrations names: [String]) throws(AnnalsError) {
    if names.isEmpty { return }
    guard names.allSatisfy(MigrationRecord.isValid) else {
      throw AnnalsError(
        .invalidArgument,
        "the name of a migration is a line of 1 to \(MigrationRecord.longestName) bytes; nothing "
          + "was recorded")
    }
    MigrationCodec.append(names, to: &extensions)
    features.formUnion(.migrations)
    isMigration = true
    isAlwaysRecorded = true
  }

  /// Notes the transaction's group, and what it undoes or redoes, for its record. Throws
  /// `.invalidArgument` for a group without a name, or with one that is too long.
  package mutating func note(_ undo: UndoRecord) throws(AnnalsError) {
    if undo.isEmpty { return }
    guard undo.group.map({ (1...UndoRecord.longestGroup).contains($0.utf8.count) }) != false else {
      throw AnnalsError(
        .invalidArgument,
        "the name of a group has 1 to \(UndoRecord.longestGroup) bytes; nothing was recorded")
    }
    UndoCodec.append(undo, to: &extensions)
    self.undo = undo
    features.formUnion(.undo)
  }
}
