import Annals
import AnnalsInspector

extension TransactionText {
  /// A transaction in one line: number, date, author, and its message, otherwise its changes.
  func writeLine(
    _ digest: TransactionDigest, _ state: () throws(AnnalsError) -> StateReader
  ) throws {
    let record = digest.transaction.page.batch.transactions[digest.transaction.index]
    let number = "\(digest.number)"
    if let lost = record.lost { return try output.line(number, .heading, "  lost: \(lost)") }
    let author = ValueText.plain(digest.transaction.author ?? "-")
    let date = values.zone.text(record.timestamp)
    let line = cut("\(number)  \(date)  \(author)  \(try summary(digest, state))")
    try output.line(number, .heading, String(line.dropFirst(number.count)))
  }

  private func summary(
    _ digest: TransactionDigest, _ state: () throws(AnnalsError) -> StateReader
  ) throws -> String {
    let record = digest.transaction.page.batch.transactions[digest.transaction.index]
    for entry in record.metadata where entry.key == "message" {
      guard case .string(let message) = entry.value,
        let first = ValueText.lines(of: message).first(where: { !$0.isEmpty })
      else { continue }
      return ValueText.plain(first)
    }
    let undo = digest.transaction.undo
    var act = undo.act == nil ? "" : TransactionText.text(of: undo).map { "\($0): " } ?? ""
    for name in digest.transaction.migrations { act += "migration: \(ValueText.plain(name)): " }
    let entities = digest.transaction.changedEntityNames
    let schema = "schema of " + ValueText.plain(entities.joined(separator: ", "))
    guard let change = digest.shown.first else {
      return act + (entities.isEmpty ? "no changes" : schema)
    }
    let name = ValueText.plain(try change.objectName(state).text)
    let more = digest.total - 1
    let others = more > 0 ? " and \(Numerals.grouped(more)) more" : ""
    return "\(act)\(change.kind.mark) \(name)\(others)"
      + (entities.isEmpty ? "" : ", " + schema)
  }
}
