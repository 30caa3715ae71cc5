/// The record of one transaction, without its changes.
///
/// Rarely used parts are kept separately (`Details`), so that most records are a few plain words.
@usableFromInline
package struct TransactionRecord: Sendable {
  /// The transaction's number, from 1.
  package var number: Int64
  package var timestamp: Timestamp
  /// The interned name of the author; 0 for none.
  package var author: NameNumber = 0
  /// The interned name of the context; 0 for none.
  package var context: NameNumber = 0
  /// The opening that wrote the transaction; 0 for none (a replayed or imported base).
  package var opening: OpeningNumber = 0
  /// Which part of a transaction of several frames this is, from 0, and whether another follows.
  package var part: UInt32 = 0
  package var isContinued = false
  /// The transaction's run in the batch's `changes`.
  @usableFromInline package var firstChange: UInt32 = 0
  @usableFromInline package var changeCount: UInt32 = 0
  private var kept = Kept.none

  package init(number: Int64, timestamp: Timestamp) {
    self.number = number
    self.timestamp = timestamp
  }

  /// The transaction's run in the batch's `changes`.
  @inlinable package var changeRange: Range<Int> {
    Int(firstChange)..<Int(firstChange) + Int(changeCount)
  }

  /// The rarely used parts.
  private struct Details: Sendable {
    var metadata: [MetadataEntry] = []
    var schemaChange: [EntityChange] = []
    var newNames: [String] = []
    var firstNewName: NameNumber = 0
    var newOpening: Opening?
    var lost: LostTransactions?
    var extensions: ContiguousArray<UInt8> = []
  }

  /// The details in one word.
  private enum Kept: Sendable {
    case none
    indirect case some(Details)
  }
}

extension TransactionRecord {
  /// The caller's key-value pairs, keys rising by UTF-8 bytes.
  package var metadata: [MetadataEntry] {
    get { if case .some(let details) = kept { details.metadata } else { [] } }
    set { if !isPlain || !newValue.isEmpty { change { $0.metadata = newValue } } }
  }

  /// The entities that it defines or changes, rising; empty for none.
  package var schemaChange: [EntityChange] {
    get { if case .some(let details) = kept { details.schemaChange } else { [] } }
    set { if !isPlain || !newValue.isEmpty { change { $0.schemaChange = newValue } } }
  }

  /// The names first used here: their `NameNumber`s follow those known before, from `firstNewName`.
  package var newNames: [String] {
    get { if case .some(let details) = kept { details.newNames } else { [] } }
    set { if !isPlain || !newValue.isEmpty { change { $0.newNames = newValue } } }
  }

  /// The number of the first of `newNames`; 0 without any.
  package var firstNewName: NameNumber {
    get { if case .some(let details) = kept { details.firstNewName } else { 0 } }
    set { if !isPlain || newValue != 0 { change { $0.firstNewName = newValue } } }
  }

  /// The opening first used here; nil if none.
  package var newOpening: Opening? {
    get { if case .some(let details) = kept { details.newOpening } else { nil } }
    set { if !isPlain || newValue != nil { change { $0.newOpening = newValue } } }
  }

  /// The lost transactions of a gap record, whose number is the last of them; nil for a
  /// transaction.
  package var lost: LostTransactions? {
    get { if case .some(let details) = kept { details.lost } else { nil } }
    set { if !isPlain || newValue != nil { change { $0.lost = newValue } } }
  }

  /// The openings first used here: its own, or those of the transactions that a gap stands for.
  package var openings: [Opening] { (lost?.openings ?? []) + [newOpening].compactMap(\.self) }

  /// The tagged extension area's raw bytes, kept by rewrites.
  package var extensions: ContiguousArray<UInt8> {
    get { if case .some(let details) = kept { details.extensions } else { [] } }
    set { if !isPlain || !newValue.isEmpty { change { $0.extensions = newValue } } }
  }

  /// Whether it has no details: metadata, schema change, new names or opening, gap, extensions.
  package var isPlain: Bool {
    if case .none = kept { true } else { false }
  }

  /// Copies the details of another record of the same transaction.
  package mutating func copyDetails(of other: TransactionRecord) { kept = other.kept }

  private mutating func change(_ body: (inout Details) -> Void) {
    var details = Details()
    if case .some(let old) = kept { details = old }
    kept = .none
    body(&details)
    kept = .some(details)
  }
}
