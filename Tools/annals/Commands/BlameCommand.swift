import Annals
import ArgumentParser

struct BlameCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "blame", abstract: "Prints who last set each property of an object.",
    discussion: Vocabulary.token)

  @Argument(help: "The store.") var file: String
  @Argument(help: "The OBJECT: Post/7 or Post#7.") var object: String
  @Option(parsing: .unconditional, help: "As of this TOKEN; head if left out.")
  var at: String?

  func run(_ console: Console) throws -> ExitStatus {
    let store = try console.openForReading(file, holdingValues: false)
    defer { try? store.close() }
    let snapshot = try console.snapshot(at, in: store, withOnly: [])
    let found = try ObjectArgument(object).find(in: snapshot)
    let text = TransactionText(console, limit: 200)
    let state = snapshot.reader
    var rows: [(number: String, date: String, author: String, property: String)] = []
    for line in try store.blame(found.id(in: store), at: snapshot.token) {
      let value = try text.text(line.value) { () throws(AnnalsError) in state }
      let property = "\(ValueText.plain(line.property)): \(value)"
      guard let transaction = line.transaction else {
        let origin = store.base.number > 0 ? "at or before \(store.base.number)" : "default"
        rows.append(("-", origin, "", property))
        continue
      }
      let record = transaction.page.batch.transactions[transaction.index]
      rows.append(
        (
          "\(transaction.number)", console.zone.text(record.timestamp),
          ValueText.plain(transaction.author ?? ""), property
        ))
    }
    let widths = (
      rows.map(\.number.count).max() ?? 0, rows.map(\.date.count).max() ?? 0,
      rows.map(\.author.count).max() ?? 0
    )
    for row in rows {
      let number = console.output.styled(row.number.padded(left: widths.0), .heading)
      let date = row.date.padded(right: widths.1)
      let author = row.author.padded(right: widths.2)
      try console.output.line("\(number)  \(date)  \(author)  \(row.property)")
    }
    return .done
  }
}

extension String {
  /// The text with spaces before it, up to a width.
  func padded(left width: Int) -> String {
    String(repeating: " ", count: max(0, width - count)) + self
  }

  /// The text with spaces behind it, up to a width.
  func padded(right width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}
