import Annals
import AnnalsFormat
import AnnalsModel

/// The members of a line other than its changes.
struct TransactionMembers {
  private var seen = NameIndex([])
  /// The number that the transaction had where the lines come from.
  private(set) var number: Int64?
  private var author: String?
  private var context: String?
  private var timestamp: Timestamp?
  private var microseconds: Int64?
  private var metadata: [String: Value] = [:]
  /// The least number of bytes that the metadata takes in the file.
  private var metadataLength = 0
  private var hasChanges = false
  private var group: String?
  private var act: UndoRecord.Act?
  private var migrations: [String] = []

  init() {}

  /// Reads the value of the member whose name `reader` has just read. For `changes` it reads
  /// nothing and returns true.
  mutating func read(_ reader: JSONReader) throws(InputFault) -> Bool {
    let name = String(decoding: reader.text, as: UTF8.self)
    guard seen.insert(name, at: 0) else {
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
            + (WrittenDate.looksLong(text) ? AttributeType.date.form(for: text) : ""))
      }
      timestamp = moment
    case "timestamp_us":
      let token = try reader.next()
      if token != .null { microseconds = try reader.whole(token, of: name) }
    case "metadata": try readMetadata(reader)
    case "group", "undoes", "redoes": try readUndo(name, reader)
    case "migration": try readMigration(name, reader)
    case "schema", "schemaChange", "base":
      throw reader.fault("`\(name)` is the first member of a line of its own")
    default: try add(name, reader.next(), reader)
    }
    return false
  }

  /// Applies the members to the transaction. `expected` is its number if the store has only the
  /// transactions of the lines, so that rows are the same; nil in any other store.
  func apply(
    to transaction: WriteTransaction, _ reader: JSONReader, numbered expected: Int64?,
    _ numbers: inout ImportedNumbers
  ) throws(InputFault) {
    guard hasChanges else { throw reader.fault("the line has no `changes`") }
    if let timestamp, let microseconds {
      // Both give the same time; the text may leave out the fraction.
      let difference = microseconds.subtractingReportingOverflow(timestamp.microseconds)
      guard !difference.overflow, (0..<1_000_000).contains(difference.partialValue) else {
        throw reader.fault("`timestamp` and `timestamp_us` are two different moments")
      }
    }
    transaction.draft.origin.author = author
    transaction.draft.origin.context = context
    let moment = microseconds.map { Timestamp(microseconds: $0) } ?? timestamp
    if let moment, !Timestamp.transactionRange.contains(moment) {
      throw reader.fault("the line is dated \(moment); \(Timestamp.transactionRangeText)")
    }
    transaction.draft.origin.timestamp = moment
    transaction.metadata = metadata
    if let number, number == expected, case .json(let text) = metadata["erased"],
      let erasure = ErasureReading.erasure(in: text, transaction.schema)
    {
      transaction.metadata["erased"] = nil
      transaction.draft.origin.note(erasure)
    }
    try applyMigrations(to: transaction, reader, isKept: expected != nil, &numbers)
    // An exported line has every value that a function of a program made.
    if number != nil { transaction.draft.origin.keepsGivenValues = true }
    try applyUndo(to: transaction, reader, isKept: number == expected, &numbers)
    // A gap of an export may lack required values. Other programs may use the name `lost` for
    // something else.
    if case .json(let text) = metadata["lost"], text.hasPrefix(#"{"first":"#) {
      transaction.draft.origin.allowsMissing = true
    }
  }

  /// Reads the names of migrations. A value of another kind is metadata of that name.
  private mutating func readMigration(_ name: String, _ reader: JSONReader) throws(InputFault) {
    let token = try reader.next()
    switch token {
    case .string: migrations = [String(decoding: reader.text, as: UTF8.self)]
    case .beginArray:
      try reader.elements(token, of: name) { item throws(InputFault) in
        migrations.append(try reader.text(item, of: name))
      }
    default: try add(name, token, reader)
    }
  }

  /// Records the migrations in a store that has only the transactions of the lines. Another one has
  /// made its own, or has objects that they did not change.
  private func applyMigrations(
    to transaction: WriteTransaction, _ reader: JSONReader, isKept: Bool,
    _ numbers: inout ImportedNumbers
  ) throws(InputFault) {
    guard isKept else { return numbers.addLeftOut(migrations: migrations.count) }
    do throws(AnnalsError) {
      try transaction.draft.origin.note(migrations: migrations)
    } catch {
      throw reader.fault(error.message)
    }
  }

  /// Reads the value of a member about undo. A value of another kind is metadata of that name.
  private mutating func readUndo(_ name: String, _ reader: JSONReader) throws(InputFault) {
    let token = try reader.next()
    switch (name, token) {
    case ("group", .string): group = String(decoding: reader.text, as: UTF8.self)
    case ("redoes", .number): act = .redoes(try reader.whole(token, of: name))
    case ("undoes", .number):
      let number = try reader.whole(token, of: name)
      act = .undoes(number...number)
    case ("undoes", .beginArray):
      var list: [Int64] = []
      try reader.elements(token, of: name) { item throws(InputFault) in
        list.append(try reader.whole(item, of: name))
        if list.count > 2 { throw reader.fault("`undoes` is the first and the last number") }
      }
      guard list.count == 2, list[0] <= list[1] else {
        throw reader.fault("`undoes` is the first and the last number")
      }
      act = .undoes(list[0]...list[1])
    default: try add(name, token, reader)
    }
  }

  /// Gives the transaction its group, and what it undoes by the numbers of the store; these are
  /// those of the lines if `isKept`.
  private func applyUndo(
    to transaction: WriteTransaction, _ reader: JSONReader, isKept: Bool,
    _ numbers: inout ImportedNumbers
  ) throws(InputFault) {
    var undo = UndoRecord(group: group)
    if let act {
      let named = act.numbers
      guard let number, named.lowerBound > 0, named.upperBound < number else {
        throw reader.fault("a transaction undoes or redoes what has a lower number, from 1")
      }
      undo.act = isKept ? act : numbers.act(act)
      if undo.act == nil { numbers.addLost() }
    }
    do throws(AnnalsError) {
      try transaction.draft.origin.note(undo)
    } catch {
      throw reader.fault(error.message)
    }
  }

  private mutating func readMetadata(_ reader: JSONReader) throws(InputFault) {
    guard try reader.next() == .beginObject else {
      throw reader.fault("`metadata` is not an object")
    }
    while try reader.next() == .key {
      try add(String(decoding: reader.text, as: UTF8.self), reader.next(), reader)
    }
  }

  private mutating func add(
    _ name: String, _ token: JSONToken, _ reader: JSONReader
  ) throws(InputFault) {
    var value = try reader.value(token)
    // Metadata cannot hold the erased value, so it becomes JSON text.
    if value.isErased { value = .json(#"{"$erased":true}"#) }
    // More could not be committed.
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
  /// The number of bytes of text or data in the value.
  fileprivate var textLength: Int {
    switch self {
    case .string(let text), .url(let text), .json(let text): text.utf8.count
    case .data(let bytes): bytes.count
    default: 0
    }
  }
}
