import Annals
import AnnalsInspector

/// Formats transactions and changes as text, for `log`, `show` and `diff`.
struct TransactionText {
  let output: Output
  let values: ValueText
  /// The width at which lines are cut; nil for no limit.
  let width: Int?
  private let showing: ValueShowing

  /// Formats texts of at most `limit` characters, and values of the store.
  init(_ console: Console, limit: Int = 60, _ showing: ValueShowing) {
    self.showing = showing
    output = console.output
    values = ValueText(zone: console.zone, limit: limit)
    width = console.terminal.isOutput ? console.terminal.width : nil
  }

  /// `transaction 42  2019-10-22 20:15:04 +0200  Safari · share · sharectl[311]`, and the message
  /// and other metadata below.
  func writeHead(_ transaction: Transaction) throws {
    let record = transaction.page.batch.transactions[transaction.index]
    if let lost = record.lost { return try writeHead(lost) }
    var origin: [String] = []
    if let author = transaction.author { origin.append(ValueText.plain(author)) }
    if let context = transaction.context { origin.append(ValueText.plain(context)) }
    if let process = transaction.processName {
      origin.append(ValueText.plain(process) + (transaction.processID.map { "[\($0)]" } ?? ""))
    }
    let tail = origin.isEmpty ? "" : "  " + origin.joined(separator: " · ")
    try output.line(
      "transaction \(transaction.number)", .heading,
      "  \(values.zone.text(record.timestamp))\(tail)")
    if let text = TransactionText.text(of: transaction.undo) {
      try output.line(cut("    " + text))
    }
    for name in transaction.migrations {
      try output.line(cut("    migration: \(ValueText.plain(name))"))
    }
    if let erasure = transaction.erasure { try write(erasure, of: transaction) }
    for entry in record.metadata where entry.key == "message" {
      guard case .string(let message) = entry.value, !message.isEmpty else { continue }
      for line in ValueText.lines(of: message) {
        try output.line(line.isEmpty ? "" : cut("    " + ValueText.plain(line)))
      }
    }
  }

  /// `undoes 17`, `redoes 18`, `undoes 3...5 (group drag)`, `group drag`; nil for most.
  static func text(of undo: UndoRecord) -> String? {
    let group = undo.group.map { "group \(ValueText.plain($0))" }
    let act =
      switch undo.act {
      case .undoes(let numbers): "undoes \(UndoRecord.text(of: numbers))"
      case .redoes(let number): "redoes \(number)"
      case nil: nil as String?
      }
    guard let act else { return group }
    return group.map { "\(act) (\($0))" } ?? act
  }

  /// `    erased Post#7: title, text`, and below it the reason.
  private func write(_ erasure: Erasure, of transaction: Transaction) throws {
    for target in erasure.targets {
      let entity = transaction.schema.entity(numbered: target.object.entity)
      let name = "\(entity?.name ?? "#\(target.object.entity)")#\(target.object.row)"
      let properties = target.properties.map { entity?.propertyName($0) ?? "#\($0)" }
      let what = properties.isEmpty ? "" : ": " + properties.joined(separator: ", ")
      try output.line(cut("    erased \(ValueText.plain(name + what))"))
    }
    try output.line(cut("    because: \(ValueText.plain(erasure.reason))"))
  }

  /// `lost: transactions 120 to 122, after DATE, before DATE`, and below it the reason.
  private func writeHead(_ lost: LostTransactions) throws {
    let zone = values.zone
    let after = lost.after.microseconds > 0 ? "after \(zone.text(lost.after))" : nil
    let before = lost.before.map { "before \(zone.text($0))" }
    let time = [after, before].compactMap { $0 }.joined(separator: ", ")
    try output.line("lost: \(lost)", .heading, time.isEmpty ? "" : "  \(time)")
    try output.line(cut("    \(ValueText.plain(lost.reason))"))
    try output.line(
      cut(
        "    salvaged \(zone.text(lost.salvaged)); the changes below "
          + (lost.isExact ? "make up for them exactly" : "are what is known of them")))
  }

  /// The metadata other than the message: `    KEY: VALUE`, and what changed of the schema.
  func writeMetadata(_ transaction: Transaction) throws {
    for entry in transaction.page.batch.transactions[transaction.index].metadata
    where entry.key != "message" {
      let value = values.text(try showing.shown(entry.value))
      try output.line("    \(ValueText.plain(entry.key)): \(value)")
    }
    for line in schemaLines(of: transaction) { try output.line(line) }
  }

  /// The first of what the transaction changed of the schema; `hint` says where the rest is.
  func writeSchema(of transaction: Transaction, hint: String) throws {
    let lines = schemaLines(of: transaction)
    let isCut = lines.count > TransactionText.schemaLinesIfWhole
    for line in isCut ? lines.prefix(TransactionText.schemaLinesIfCut) : lines[...] {
      try output.line(cut(line))
    }
    if isCut {
      let more = lines.count - TransactionText.schemaLinesIfCut
      try output.line("    … \(Numerals.grouped(more)) more: \(hint)")
    }
  }

  /// If there are more lines about the schema than the first, as many as the second are shown.
  private static let schemaLinesIfWhole = 12
  private static let schemaLinesIfCut = 8

  /// What the transaction changed of the schema: each entity, and below it the differences.
  func schemaLines(of transaction: Transaction) -> [String] {
    SchemaText.lines(of: transaction).map { "    " + ValueText.plain($0) }
  }

  /// `    ~ Event/17  title: "Trip" → "Trip to Kyoto"`.
  func write(
    _ change: Change, indent: String = "    ", _ state: () throws(AnnalsError) -> StateReader
  ) throws {
    let name = ValueText.plain(try change.objectName(state).text)
    var line = "\(indent)\(change.kind.mark) \(name)"
    if change.kind == .update {
      let parts = try change.properties.map { try text($0, of: change, state) }
      if !parts.isEmpty { line += "  " + parts.joined(separator: ", ") }
    } else if !change.displayValue.isNull {
      line += "  " + (try text(change.displayValue, state))
    }
    try output.line(cut(line), change.kind.style)
  }

  /// Every property of an inserted or deleted object except its key, one per line.
  func writeProperties(
    of change: Change, indent: String = "        ", _ state: () throws(AnnalsError) -> StateReader
  ) throws {
    guard change.kind != .update else { return }
    let key = change.entity.keyAttribute?.number
    for difference in change.properties where difference.number != key {
      let value = change.kind == .insert ? difference.after : difference.before
      try output.line(
        "\(indent)\(ValueText.plain(difference.name)): \(try text(value, state))")
    }
  }

  private func text(
    _ difference: PropertyDifference, of change: Change,
    _ state: () throws(AnnalsError) -> StateReader
  ) throws -> String {
    let name = ValueText.plain(difference.name)
    if let edits = difference.edits {
      let now = try state()
      return "\(name): " + ValueText.plain(try text(edits) { try now.name(of: $0).text })
    }
    return "\(name): \(try text(difference.before, state)) → \(try text(difference.after, state))"
  }

  /// What was removed, inserted and moved, the first five of each.
  private func text(
    _ edits: RelationshipEdits, _ name: (ObjectReference) throws -> String
  ) throws -> String {
    let parts = edits.parts
    var words = try parts.removed.prefix(5).map { "-" + (try name($0.object)) }
    words += try parts.inserted.prefix(5).map { "+" + (try name($0.object)) }
    let moves = try parts.moved.prefix(5).map {
      "\(try name($0.object)) moved from \($0.from + 1) to \($0.to + 1)"
    }
    let more = [parts.removed.count, parts.inserted.count, parts.moved.count]
      .reduce(0) { $0 + max(0, $1 - 5) }
    let rest = more > 0 ? ["… \(Numerals.grouped(more)) more"] : []
    if moves.isEmpty { return (words + rest).joined(separator: " ") }
    return ((words.isEmpty ? [] : [words.joined(separator: " ")]) + moves + rest)
      .joined(separator: ", ")
  }

  /// A value, with the names of referenced objects in the state.
  func text(_ value: Value, _ state: () throws(AnnalsError) -> StateReader) throws -> String {
    values.text(try showing.shown(value, state))
  }

  /// The line, cut to the width of the terminal.
  func cut(_ line: String) -> String {
    width.map { line.cut(to: $0) } ?? line
  }
}

extension ChangeKind {
  /// The character before a change of this kind.
  var mark: String {
    switch self {
    case .insert: "+"
    case .update: "~"
    case .delete: "-"
    }
  }

  /// The style of a change of this kind.
  var style: Style {
    switch self {
    case .insert: .inserted
    case .update: .updated
    case .delete: .deleted
    }
  }
}
