import Annals
import AnnalsInspector

/// Formats since when something has been so.
struct SinceText {
  private let output: Output
  private let text: TransactionText
  private let file: String

  init(_ console: Console, of file: String) {
    self.file = file
    output = console.output
    text = TransactionText(console, limit: 200)
  }

  /// Writes the answer in a line, and below it the transaction with which it began.
  func write(_ document: SinceDocument) throws {
    let answer = document.holds ? "true" : "false"
    let count = document.probes.first?.count.map {
      ": \(Numerals.counted(Int64($0), "object")) as of \(document.to.number)"
    }
    guard let became = document.became else {
      let range = "from \(document.from.number) to \(document.to.number)"
      let time = document.isExact ? "all the time \(range)" : "at both ends \(range)"
      try output.line("\(answer) \(time)", .bold, count ?? "")
      return try writeNote(of: document)
    }
    try output.line("\(answer) since transaction \(became.number)", .bold, count ?? "")
    try writeNote(of: document)
    try output.line()
    try text.writeHead(became)
    for change in document.changes { try text.write(change) }
    let more = became.changes - document.changes.count
    if more > 0 {
      try output.line(
        "    … \(Numerals.grouped(more)) more: annals show \(file) \(became.number)")
    }
  }

  /// What the answer leaves open.
  private func writeNote(of document: SinceDocument) throws {
    if !document.isExact { try output.line("note: \(document.note)") }
    if let earlier = document.earlier {
      let names = earlier.map { ValueText.plain($0) }.joined(separator: ", ")
      try output.line("note: the key was \(names) before; ask about that by its number")
    }
  }
}
