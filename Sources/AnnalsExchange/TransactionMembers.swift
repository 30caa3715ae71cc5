import Annals
import AnnalsFormat
import AnnalsModel

/// The members of a line beside its changes.
struct TransactionMembers {
  private var seen: Set<ContiguousArray<UInt8>> = []
  private var number: Int64?
  private var author: String?
  private var context: String?
  private var timestamp: Timestamp?
  private var microseconds: Int64?
  private var metadata: [String: Value] = [:]
  /// How many bytes the metadata would take in the file, at least.
  private var metadataLength = 0
  private var hasChanges = false

  init() {}

  /// Reads the member whose name `reader` has just read; returns true, and has read no more, if it
  /// is `changes`.
  mutating func read(_ reader: JSONReader) throws(InputFault) -> Bool {
    let name = String(decoding: reader.text, as: UTF8.self)
    guard seen.insert(reader.text).inserted else {
      throw reader.fault("the line has two members `\(name)`")
    }
    switch name {
    case "changes":
      hasChanges = true
      return true
    case "n": number = try reader.whole(reader.next(), of: name)
    case "author": author = try optionalText(reader, name)
    case "context": context = try optionalText(reader, name)
    case "timestamp":
      guard let text = try optionalText(reader, name) else { break }
      guard let moment = Timestamp(text) else {
        throw reader.fault(
          "`timestamp` is not a date of the form 2019-10-22T18:15:04Z"
            + (Timestamp.looksLong(text) ? AttributeType.date.form(for: text) : ""))
      }
      timestamp = moment
    case "timestamp_us":
      let token = try reader.next()
      if token != .null { microseconds = try reader.whole(token, of: name) }
    case "metadata": try readMetadata(reader)
    case "schema", "base": throw reader.fault("`\(name)` is the first member of a line of its own")
    default: try add(name, reader)
    }
    return false
  }

  /// Puts what was read into the transaction. `expected` is its number in a store that has what the
  /// lines say and nothing else, so that rows are theirs, too; nil in another store.
  func finish(
    _ transaction: WriteTransaction, _ reader: JSONReader, numbered expected: Int64?
  ) throws(InputFault) {
    guard hasChanges else { throw reader.fault("the line has no `changes`") }
    if let timestamp, let microseconds {
      // The two say the same; the text may leave out the fraction.
      let difference = microseconds.subtractingReportingOverflow(timestamp.microseconds)
      guard !difference.overflow, (0..<1_000_000).contains(difference.partialValue) else {
        throw reader.fault("`timestamp` and `timestamp_us` are two different moments")
      }
    }
    transaction.origin.author = author
    transaction.origin.context = context
    transaction.origin.timestamp = microseconds.map { Timestamp(microseconds: $0) } ?? timestamp
    transaction.metadata = metadata
    if let number, number == expected, case .json(let text) = metadata["erased"],
      let erasure = ErasureReading.erasure(in: text, transaction.schema)
    {
      transaction.metadata["erased"] = nil
      transaction.origin.erasure = erasure
      transaction.origin.features.formUnion(.erasure)
    }
    // What an export tells of a gap: values that nobody knows are missing in it. Others may mean
    // something else by the word.
    if case .json(let text) = metadata["lost"], text.hasPrefix(#"{"first":"#) {
      transaction.origin.allowsMissing = true
    }
  }

  private mutating func readMetadata(_ reader: JSONReader) throws(InputFault) {
    guard try reader.next() == .beginObject else {
      throw reader.fault("`metadata` is not an object")
    }
    while try reader.next() == .key {
      try add(String(decoding: reader.text, as: UTF8.self), reader)
    }
  }

  private mutating func add(_ name: String, _ reader: JSONReader) throws(InputFault) {
    var value = try reader.value(reader.next())
    // Metadata is no place of what was erased: then it is JSON text.
    if value.isErased { value = .json(#"{"$erased":true}"#) }
    // More could not be written, so it is not gathered either.
    metadataLength += 2 + name.utf8.count + value.textLength
    guard metadataLength <= FormatLimits.maximumDetailsLength else {
      throw reader.fault(
        "the line's metadata takes more than \(FormatLimits.maximumDetailsLength) bytes")
    }
    if value.isNull { return }
    guard metadata.updateValue(value, forKey: name) == nil else {
      throw reader.fault("the line says `\(name)` twice")
    }
  }

  private func optionalText(_ reader: JSONReader, _ name: String) throws(InputFault) -> String? {
    let token = try reader.next()
    return token == .null ? nil : try reader.text(token, of: name)
  }
}

extension Value {
  /// How many bytes of text or data the value has.
  fileprivate var textLength: Int {
    switch self {
    case .string(let text), .url(let text), .json(let text): text.utf8.count
    case .data(let bytes): bytes.count
    default: 0
    }
  }
}
