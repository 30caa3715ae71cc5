import AnnalsFormat
import AnnalsModel

// Encoding a transaction into frames.

extension LogState {
  /// How many bytes of frames are gathered before they are written.
  static var writeLength: Int { 256 << 10 }

  /// Begins a large value, whose pieces follow; returns its number.
  mutating func beginLargeValue(length: UInt64) -> UInt64 {
    guard let transaction, transaction.parts.count == 0, !transaction.isWithinLargeValue else {
      preconditionFailure("large values come one by one, before a transaction's first part")
    }
    let number =
      (transaction.largeValues.last?.number).map { $0 + 1 } ?? tables.nextLargeValueNumber
    transaction.largeValues.append(
      LargeValueEntry(number: number, offset: frames.offset, length: length))
    transaction.isWithinLargeValue = true
    return number
  }

  /// Appends a piece of the large value that was begun last.
  mutating func appendLargeValuePiece(_ part: LargeValuePiece, isLast: Bool) throws(LogError) {
    if frames.bytes.count >= LogState.writeLength { try writeFrames() }
    appendFrame(.largeValue, FrameFlags(isContinued: !isLast)) {
      LargeValueCodec.encode(part, into: &$0)
    }
    if isLast { transaction?.isWithinLargeValue = false }
  }

  /// Fills in the transaction's record, and assigns numbers to names and openings. Throws
  /// `detailsTooLarge`; then the transaction still has no record.
  mutating func describe(_ draft: TransactionEnvelope, own: Opening?) throws(LogError) {
    guard let transaction, transaction.parts.count == 0, !transaction.isWithinLargeValue else {
      preconditionFailure("a transaction is described before its first part")
    }
    var record = TransactionRecord(number: tables.head.number + 1, timestamp: draft.timestamp)
    if let author = draft.author { record.author = number(of: author, for: &record) }
    if let context = draft.context { record.context = number(of: context, for: &record) }
    record.metadata = draft.metadata
    record.schemaChange = draft.schemaChange
    record.extensions = draft.extensions
    var recordsOwnOpening = false
    if let opening = draft.opening {
      record.opening = number(of: opening, for: &record)
    } else if ownOpening != 0 {
      record.opening = ownOpening
    } else if let own {
      record.opening = number(of: own, for: &record)
      recordsOwnOpening = true
    }
    let length = TransactionCodec.detailsLength(of: record)
    guard length <= FormatLimits.maximumDetailsLength else {
      throw .detailsTooLarge(length: length, limit: FormatLimits.maximumDetailsLength)
    }
    transaction.record = record
    transaction.detailsLength = length
    transaction.recordsOwnOpening = recordsOwnOpening
    transaction.features = features.contains(draft.features) ? .none : draft.features
  }

  private mutating func number(
    of name: String, for record: inout TransactionRecord
  ) -> NameNumber {
    if let known = names.number(of: name, in: tables.names.list) { return known }
    let first = NameNumber(tables.names.count + 1)
    if let index = record.newNames.firstIndex(where: { $0.hasSameBytes(as: name) }) {
      return first + NameNumber(index)
    }
    record.firstNewName = first
    record.newNames.append(name)
    return first + NameNumber(record.newNames.count - 1)
  }

  private func number(
    of opening: Opening, for record: inout TransactionRecord
  ) -> OpeningNumber {
    if let known = tables.openings.list.last(where: { $0.id == opening.id }) { return known.number }
    var new = opening
    new.number = OpeningNumber(tables.openings.count + 1)
    record.newOpening = new
    return new.number
  }

  /// Appends the batch's changes, in several parts if they are too long for one.
  mutating func append(_ batch: inout ChangeBatch, isLast: Bool) throws(LogError) {
    if let transaction, transaction.parts.count == 0,
      transaction.detailsLength > FormatLimits.partTarget,
      transaction.detailsLength + batch.approximateLength > FormatLimits.maximumPayload / 2
    {
      // Long details may leave no room in their frame for a long change.
      var none = ChangeBatch()
      try appendOne(&none, isLast: false)
    }
    if batch.changes.count > 1, batch.isBeyondPart {
      var splitter = PartSplitter(batch)
      while var part = splitter.next() {
        try appendOne(&part, isLast: isLast && splitter.isAtEnd)
      }
      batch.transactions.removeAll()
    } else {
      try appendOne(&batch, isLast: isLast)
    }
  }

  private mutating func appendOne(_ batch: inout ChangeBatch, isLast: Bool) throws(LogError) {
    guard let open = transaction, var record = open.record, !open.isComplete else {
      preconditionFailure("the transaction has its last part")
    }
    if frames.bytes.count >= LogState.writeLength { try writeFrames() }
    if open.parts.count == 0, !open.features.isEmpty {
      announce(open.features)
      open.start = frames.offset
    }
    record.part = open.parts.count
    record.isContinued = !isLast
    record.firstChange = 0
    record.changeCount = UInt32(batch.changes.count)
    if open.parts.count > 0 {
      // Only the first part carries these.
      record.metadata = []
      record.schemaChange = []
      record.newNames = []
      record.firstNewName = 0
      record.newOpening = nil
      record.extensions = []
    }
    batch.transactions.removeAll(keepingCapacity: true)
    batch.transactions.append(record)
    try encode(batch, isLast: isLast)
    open.parts.add(batch.changes.indices, of: batch)
    open.isComplete = isLast
  }

  /// Appends an announcement, before what uses the features, unless the file has them.
  mutating func announce(_ added: Features) {
    if features.contains(added) { return }
    appendFrame(.featureAnnouncement, added.required == 0 ? .skippable : []) {
      added.append(to: &$0)
    }
  }

  /// Appends a frame whose payload `encode` makes.
  mutating func appendFrame(
    _ kind: FrameKind, _ flags: FrameFlags = .skippable,
    _ encode: (inout ContiguousArray<UInt8>) -> Void
  ) {
    payload.removeAll(keepingCapacity: true)
    encode(&payload)
    payload.withUnsafeBytes { _ = frames.append(kind: kind, flags: flags, payload: $0) }
  }

  private mutating func encode(
    _ batch: ChangeBatch, isLast: Bool
  ) throws(LogError) {
    let kind = batch.encode(into: &payload)
    try requireFits(payload.count)
    payload.withUnsafeBytes {
      _ = frames.append(kind: kind, flags: FrameFlags(isContinued: !isLast), payload: $0)
    }
  }
}

extension ChangeBatch {
  /// The approximate length of the row form.
  var approximateLength: Int { changes.count * 6 + properties.count * 8 + arena.count }

  /// Encodes the batch as the payload of a frame, in place of what was there: by row if it is one
  /// small transaction that is whole, else by column, deflated with this level. Returns the
  /// frame's kind.
  func encode(into payload: inout ContiguousArray<UInt8>, level: Int32 = 1) -> FrameKind {
    payload.removeAll(keepingCapacity: true)
    if transactions.count == 1, transactions[0].part == 0, !transactions[0].isContinued,
      approximateLength <= 4 * FormatLimits.rowFormLimit
    {
      TransactionCodec.encode(self, transaction: 0, into: &payload)
      if payload.count <= FormatLimits.rowFormLimit { return .transaction }
      payload.removeAll(keepingCapacity: true)
    }
    BlockCodec.encode(self, into: &payload, level: level)
    return .block
  }

  /// Whether the batch has reached the length of one part.
  var isFullPart: Bool { isFull(FormatLimits.partTarget) }

  /// Whether the batch has reached so many bytes of row form, or nearly a frame's limits.
  func isFull(_ length: Int) -> Bool {
    approximateLength >= length
      || changes.count >= FormatLimits.maximumChanges / 2
      || properties.count >= FormatLimits.maximumPropertyChanges / 2
  }

  /// Whether the batch clearly exceeds the length of one part.
  var isBeyondPart: Bool {
    approximateLength > 2 * FormatLimits.partTarget
      || changes.count > FormatLimits.maximumChanges / 2
      || properties.count > FormatLimits.maximumPropertyChanges / 2
  }
}

/// Splits a batch into parts of about 256 KiB.
struct PartSplitter {
  private let batch: ChangeBatch
  private var position = 0

  init(_ batch: ChangeBatch) { self.batch = batch }

  var isAtEnd: Bool { position == batch.changes.count }

  /// The next part, without a record; nil at the end.
  mutating func next() -> ChangeBatch? {
    guard !isAtEnd else { return nil }
    var part = ChangeBatch()
    while !isAtEnd, part.changes.isEmpty || !part.isFullPart {
      part.append(batch.changes[position], from: batch)
      position += 1
    }
    return part
  }
}
