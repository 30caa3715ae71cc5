import Annals
import AnnalsInspector

extension TransactionText {
  /// A transaction in one line: number, date, author, and its message, otherwise its changes.
  func writeLine(_ entry: TransactionsDocument.Entry) throws {
    let header = entry.header
    let number = "\(header.number)"
    if let lost = header.lost { return try output.line(number, .heading, "  lost: \(lost)") }
    let author = ValueText.plain(header.author ?? "-")
    let date = values.zone.text(Timestamp(microseconds: header.us))
    let line = cut("\(number)  \(date)  \(author)  \(summary(entry))")
    try output.line(number, .heading, String(line.dropFirst(number.count)))
  }

  private func summary(_ entry: TransactionsDocument.Entry) -> String {
    let header = entry.header
    if let message = header.message,
      let first = ValueText.lines(of: message).first(where: { !$0.isEmpty })
    {
      return ValueText.plain(first)
    }
    let isUndo = header.undoes != nil || header.redoes != nil
    var act = isUndo ? TransactionText.undo(header).map { "\($0): " } ?? "" : ""
    for name in header.migrations ?? [] { act += "migration: \(ValueText.plain(name)): " }
    let schema = header.schema.map {
      "schema of " + ValueText.plain($0.joined(separator: ", "))
    }
    guard let change = entry.changes.first else { return act + (schema ?? "no changes") }
    let more = header.changes - 1
    let others = more > 0 ? " and \(Numerals.grouped(more)) more" : ""
    return "\(act)\(change.mark) \(ValueText.plain(change.object.name))\(others)"
      + (schema.map { ", " + $0 } ?? "")
  }
}
