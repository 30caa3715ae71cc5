import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel

// Writing the portable form. A transaction has one form alone: it can be made again from a file.

extension PortableTransaction {
  /// How many bytes of details a file adds to those of the portable form: the place in the log, and
  /// numbers that are longer there.
  private static let detailsReserve = 128

  /// The portable form of a transaction that was proposed, after the one with this digest. Reads
  /// the large values that it sets; O(bytes).
  ///
  /// Throws `AnnalsError`: `.tooLarge` for one of more than 1 GiB, or with details that no file
  /// takes; `.lost` for a value whose bytes were lost; and as reading large values does.
  package init(_ proposed: ProposedTransaction, after previous: Digest) throws(AnnalsError) {
    var content = Content(previous: previous)
    content.store = proposed.base.store
    content.number = proposed.base.number + 1
    content.envelope = proposed.envelope
    content.parts = proposed.parts
    try self.init(content, schema: proposed.schema, largeValues: proposed.largeValues)
  }

  /// The portable form of the changes and the envelope in `content`, which has an opening; `schema`
  /// is the one after it.
  package init(
    _ given: Content, schema: Schema, largeValues: any LargeValueSource
  ) throws(AnnalsError) {
    var content = given
    guard let opening = content.envelope.opening else {
      throw AnnalsError(.readOnly, "the store is open for reading only")
    }
    content.features = Features(of: content)
    content.envelope.features = content.features
    content.names = PortableNames(of: content.parts, in: schema)
    var values = TravellingValues(largeValues)
    for index in content.parts.indices {
      content.parts[index] = try values.replaced(in: content.parts[index])
    }
    content.parts = PortableParts.cut(content.parts)
    let record = TransactionRecord(content.number, content.envelope, opening)
    let length = TransactionCodec.detailsLength(of: record)
    guard length <= FormatLimits.maximumDetailsLength - PortableTransaction.detailsReserve else {
      throw AnnalsError(
        .tooLarge,
        "the transaction's details have \(length) bytes, and a file takes "
          + "\(FormatLimits.maximumDetailsLength); nothing was recorded")
    }
    var bytes: ContiguousArray<UInt8> = []
    PortableTransaction.appendHead(content, to: &bytes)
    content.largeValues = try values.append(to: &bytes)
    PortableTransaction.appendParts(content.parts, record, to: &bytes)
    let checksum = bytes.withUnsafeBytes { Checksum.crc32($0) }
    bytes.append(fixed: checksum)
    guard bytes.count <= PortableTransaction.longest else {
      throw AnnalsError(
        .tooLarge,
        "the transaction has \(bytes.count) bytes, and replicas exchange at most "
          + "\(PortableTransaction.longest); nothing was recorded. Write it in several")
    }
    self.init(content, bytes: Array(bytes))
  }

  private static func appendHead(_ content: Content, to bytes: inout ContiguousArray<UInt8>) {
    bytes.append(contentsOf: magic)
    bytes.append(version)
    bytes.append(0)
    content.store.append(to: &bytes)
    bytes.append(varInt: UInt64(content.number))
    bytes.append(contentsOf: content.previous.bytes)
    bytes.append(varInt: content.features.required)
    bytes.append(varInt: content.features.optional)
    content.names.append(to: &bytes)
  }

  private static func appendParts(
    _ parts: [ChangeBatch], _ record: TransactionRecord, to bytes: inout ContiguousArray<UInt8>
  ) {
    bytes.append(count: parts.count)
    var payload: ContiguousArray<UInt8> = []
    for (index, part) in parts.enumerated() {
      // Only the first part says more than its number and date.
      var own =
        index == 0
        ? record : TransactionRecord(number: record.number, timestamp: record.timestamp)
      own.changeCount = UInt32(part.changes.count)
      var batch = part
      batch.transactions = [own]
      payload.removeAll(keepingCapacity: true)
      TransactionCodec.encode(batch, transaction: 0, into: &payload)
      payload.withUnsafeBytes { bytes.append(sized: $0) }
    }
  }
}

extension TransactionRecord {
  /// The record of a transaction that brings its names and its opening along: numbers from 1.
  fileprivate init(_ number: Int64, _ envelope: TransactionEnvelope, _ opening: Opening) {
    self.init(number: number, timestamp: envelope.timestamp)
    var names: [String] = []
    func place(of name: String?) -> NameNumber {
      guard let name else { return 0 }
      if let known = names.firstIndex(where: { $0.hasSameBytes(as: name) }) {
        return NameNumber(known + 1)
      }
      names.append(name)
      return NameNumber(names.count)
    }
    author = place(of: envelope.author)
    context = place(of: envelope.context)
    newNames = names
    firstNewName = names.isEmpty ? 0 : 1
    var own = opening
    own.number = 1
    newOpening = own
    self.opening = 1
    metadata = envelope.metadata
    schemaChange = envelope.schemaChange
    extensions = envelope.extensions
  }
}

extension Features {
  /// The features that a transaction uses, by what it says.
  init(of content: PortableTransaction.Content) {
    self = .none
    let envelope = content.envelope
    var record = TransactionRecord(number: content.number, timestamp: envelope.timestamp)
    record.extensions = envelope.extensions
    if ErasureCodec.erasure(of: record) != nil { formUnion(.erasure) }
    if !UndoCodec.undo(of: record).isEmpty { formUnion(.undo) }
    if !MigrationCodec.names(of: record).isEmpty { formUnion(.migrations) }
    for change in envelope.schemaChange {
      if change.hasRelationshipRules { formUnion(.references) }
      if change.hasDerivations { formUnion(.derivations) }
      if change.hasDecimalOrDay { formUnion(.decimalsAndDays) }
    }
    if envelope.metadata.contains(where: { $0.value.tag.isDecimalOrDay }) {
      formUnion(.decimalsAndDays)
    }
    for part in content.parts {
      for property in part.properties {
        for tag in [property.before.tag, property.after.tag] {
          if tag == .erased { formUnion(.erasure) }
          if tag.isDecimalOrDay { formUnion(.decimalsAndDays) }
        }
      }
    }
  }
}

/// The large values that travel with a transaction: those that it sets. Those before its changes
/// are in every replica's file.
private struct TravellingValues {
  private let source: any LargeValueSource
  private var values: [LargeValue] = []
  /// By kind, length and checksum, as large values are equal.
  private var places: [LargeValue: UInt64] = [:]

  init(_ source: any LargeValueSource) { self.source = source }

  /// The batch with places in place of the numbers of large values.
  mutating func replaced(in batch: ChangeBatch) throws(AnnalsError) -> ChangeBatch {
    var result = batch
    for index in batch.properties.indices {
      let property = batch.properties[index]
      if property.before.isLarge {
        result.describe(batch.largeValue(property.before), as: 0, in: \.before, of: index)
      }
      if property.after.isLarge {
        let value = batch.largeValue(property.after)
        result.describe(value, as: place(of: value), in: \.after, of: index)
      }
    }
    return result
  }

  private mutating func place(of value: LargeValue) -> UInt64 {
    if let known = places[value] { return known }
    values.append(value)
    places[value] = UInt64(values.count)
    return UInt64(values.count)
  }

  /// Appends a list of (kind, sized bytes); returns where each value's bytes are.
  func append(
    to bytes: inout ContiguousArray<UInt8>
  ) throws(AnnalsError) -> [(tag: ValueTag, range: Range<Int>)] {
    bytes.append(count: values.count)
    var result: [(tag: ValueTag, range: Range<Int>)] = []
    for value in values {
      guard value.length < UInt64(PortableTransaction.longest) else {
        throw AnnalsError(
          .tooLarge,
          "a value of \(value.length) bytes is more than replicas exchange; nothing was recorded")
      }
      let own = try source.bytes(of: value)
      bytes.append(value.tag.rawValue)
      bytes.append(count: own.count)
      let start = bytes.count
      bytes.append(contentsOf: own)
      result.append((value.tag, start..<bytes.count))
    }
    return result
  }
}
