import Annals
import AnnalsInspector

/// Formats transactions and changes as text, for `log`, `show` and `diff`.
struct TransactionText {
  let output: Output
  let values: ValueText
  /// The width at which lines are cut; nil for no limit.
  let width: Int?

  init(_ console: Console, limit: Int = 60) {
    output = console.output
    values = ValueText(zone: console.zone, limit: limit)
    width = console.terminal.isOutput ? console.terminal.width : nil
  }

  /// `transaction 42  2019-10-22 20:15:04 +0200  Safari · share · sharectl[311]`, and the message
  /// and other metadata below.
  func writeHead(_ header: ShownHeader) throws {
    if let lost = header.lost { return try writeHead(lost, of: header) }
    var origin: [String] = []
    if let author = header.author { origin.append(ValueText.plain(author)) }
    if let context = header.context { origin.append(ValueText.plain(context)) }
    if let process = header.process {
      origin.append(ValueText.plain(process) + (header.pid.map { "[\($0)]" } ?? ""))
    }
    let tail = origin.isEmpty ? "" : "  " + origin.joined(separator: " · ")
    try output.line(
      "transaction \(header.number)", .heading, "  \(date(header.us))\(tail)")
    if let text = TransactionText.undo(header) { try output.line(cut("    " + text)) }
    for name in header.migrations ?? [] {
      try output.line(cut("    migration: \(ValueText.plain(name))"))
    }
    for text in header.erased ?? [] { try output.line(cut("    erased \(ValueText.plain(text))")) }
    if let reason = header.erasedBecause {
      try output.line(cut("    because: \(ValueText.plain(reason))"))
    }
    for line in header.message.map(ValueText.lines) ?? [] {
      try output.line(line.isEmpty ? "" : cut("    " + ValueText.plain(line)))
    }
  }

  /// `undoes 17`, `redoes 18`, `undoes 3...5 (group drag)`, `group drag`; nil for most.
  static func undo(_ header: ShownHeader) -> String? {
    let group = header.group.map { "group \(ValueText.plain($0))" }
    var act = header.redoes.map { "redoes \($0)" }
    if let undoes = header.undoes {
      act = "undoes \(UndoRecord.text(of: undoes[0]...undoes[1]))"
    }
    guard let act else { return group }
    return group.map { "\(act) (\($0))" } ?? act
  }

  /// `lost: transactions 120 to 122, after DATE, before DATE`, and below it the reason.
  private func writeHead(_ lost: String, of header: ShownHeader) throws {
    let loss = header.loss
    let after = loss?.afterUs.map { "after \(date($0))" }
    let before = loss?.beforeUs.map { "before \(date($0))" }
    let time = [after, before].compactMap { $0 }.joined(separator: ", ")
    try output.line("lost: \(lost)", .heading, time.isEmpty ? "" : "  \(time)")
    try output.line(cut("    \(ValueText.plain(header.lostReason ?? ""))"))
    guard let loss else { return }
    try output.line(
      cut(
        "    salvaged \(date(loss.salvagedUs)); the changes below "
          + (loss.isExact ? "make up for them exactly" : "are what is known of them")))
  }

  private func date(_ us: Int64) -> String { values.zone.text(Timestamp(microseconds: us)) }

  /// The metadata other than the message: `    KEY: VALUE`.
  func writeMetadata(_ entries: [TransactionDocument.Entry]) throws {
    for entry in entries {
      try output.line("    \(ValueText.plain(entry.key)): \(values.text(entry.value))")
    }
  }

  /// Lines about the schema, cut if not all are there; `hint` says where the others are.
  func writeSchema(_ lines: [String], more: Int? = nil, hint: String? = nil) throws {
    for line in lines {
      let text = "    " + ValueText.plain(line)
      try output.line(hint == nil ? text : cut(text))
    }
    if let more, let hint { try output.line("    … \(Numerals.grouped(more)) more: \(hint)") }
  }

  /// `    ~ Event/17  title: "Trip" → "Trip to Kyoto"`.
  func write(_ change: ShownChange, indent: String = "    ") throws {
    var line = "\(indent)\(change.mark) \(ValueText.plain(change.object.name))"
    if change.kind == "update" || change.kind == "replace" {
      let parts = change.properties.map(text)
      if !parts.isEmpty { line += "  " + parts.joined(separator: ", ") }
    } else if let display = change.properties.first(where: { $0.isDisplay == true }),
      let value = display.only, value.kind != .null
    {
      line += "  " + values.text(value)
    }
    if change.kind == "replace", change.properties.isEmpty { line += "  with the same values" }
    try output.line(cut(line), change.style)
    try writePlaces(of: change, indent: indent + "    ")
  }

  /// A line for each place at which long texts differ.
  private func writePlaces(of change: ShownChange, indent: String) throws {
    for difference in change.properties {
      let name = ValueText.plain(difference.property)
      for place in difference.allPlaces {
        let texts = [place.before, place.after].map {
          "\"" + ValueText.plain($0, quoting: true) + "\""
        }
        let rest = place.isWhole ? "" : " …"
        try output.line(
          cut(
            "\(indent)\(name), line \(Numerals.grouped(place.line)): "
              + "\(texts[0]) → \(texts[1])\(rest)"))
      }
      if let more = difference.morePlaces {
        try output.line("\(indent)\(name): … \(Numerals.counted(Int64(more), "more place"))")
      }
    }
  }

  /// Every property of an inserted or deleted object except its key, one per line.
  func writeProperties(of change: ShownChange, indent: String = "        ") throws {
    guard change.kind == "insert" || change.kind == "delete" else { return }
    for difference in change.properties where difference.isKey != true {
      guard let value = difference.only else { continue }
      try output.line("\(indent)\(ValueText.plain(difference.property)): \(values.text(value))")
    }
  }

  private func text(_ difference: ShownDifference) -> String {
    let name = ValueText.plain(difference.property)
    if let edits = difference.edits { return "\(name): " + ValueText.plain(text(edits)) }
    let (before, after) = (difference.before, difference.after)
    if difference.line != nil, let old = before?.length, let new = after?.length {
      return "\(name): \(Numerals.grouped(old)) → \(Numerals.counted(new, "byte"))"
    }
    return "\(name): \(before.map(values.text) ?? "") → \(after.map(values.text) ?? "")"
  }

  /// What was removed, inserted and moved, the first five of each.
  private func text(_ edits: ShownEdits) -> String {
    var words = edits.removed.prefix(5).map { "-" + $0.object.name }
    words += edits.inserted.prefix(5).map { "+" + $0.object.name }
    let moves = edits.moved.prefix(5).map {
      "\($0.object.name) moved from \($0.from + 1) to \($0.to + 1)"
    }
    let more = [edits.removed.count, edits.inserted.count, edits.moved.count]
      .reduce(edits.more) { $0 + max(0, $1 - 5) }
    let rest = more > 0 ? ["… \(Numerals.grouped(more)) more"] : []
    if moves.isEmpty { return (words + rest).joined(separator: " ") }
    return ((words.isEmpty ? [] : [words.joined(separator: " ")]) + moves + rest)
      .joined(separator: ", ")
  }

  /// The line, cut to the width of the terminal.
  func cut(_ line: String) -> String {
    width.map { line.cut(to: $0) } ?? line
  }
}

extension ShownChange {
  /// The character before a change of this kind.
  var mark: String {
    switch kind {
    case "insert": "+"
    case "update": "~"
    case "replace": "±"
    default: "-"
    }
  }

  fileprivate var style: Style {
    switch kind {
    case "insert": .inserted
    case "update", "replace": .updated
    default: .deleted
    }
  }
}

extension ShownDifference {
  /// The value of an insert or a delete.
  fileprivate var only: ShownValue? { after ?? before }
}
