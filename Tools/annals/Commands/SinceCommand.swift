import Annals
import AnnalsExchange
import AnnalsInspector
import ArgumentParser

struct SinceCommand: FileCommand {
  static let isPaged = true
  static let configuration = CommandConfiguration(
    commandName: "since",
    abstract: "Prints since when an object has existed, or a condition has been true.",
    discussion: """
      annals since FILE Post/7 --where 'title == "Fog"' asks about one object; without --where, \
      since when it has existed. annals since FILE --entity Post --where 'title == nil' --count \
      '>=10' asks about how many objects meet a condition; without --count, whether any does.

      History is walked back to the last change of the answer. Where that takes too long, or \
      transactions were lost, a change is found by bisection, and the output says so.

      \(Vocabulary.token)
      """)
  static let beginningAtBase: String? = "--at base"

  @Argument(help: "The store.", completion: .file()) var file: String
  @Argument(help: "The OBJECT: Post/7 or Post#7.") var object: String?
  @Option(parsing: .unconditional, help: "Ask about the objects of this entity.")
  var entity: String?
  @Option(name: .customLong("where"), parsing: .unconditional, help: "The condition.")
  var condition: String?
  @Option(parsing: .unconditional, help: "How many meet it, as in '>=10', '==0' or '<5'.")
  var count: String?
  @Option(parsing: .unconditional, help: "Up to this TOKEN; head if left out.") var at: String?
  @Option(parsing: .unconditional, help: "text or jsonl.") var format = LineFormat.text

  func validate() throws {
    if (object == nil) == (entity == nil) {
      throw ValidationError("ask about an OBJECT, or about an --entity")
    }
    if object != nil, count != nil {
      throw ValidationError("--count goes with --entity: it counts objects")
    }
  }

  func run(_ console: Console) throws -> ExitStatus {
    let store = try console.openForReading(file)
    defer { try? store.close() }
    let opened = try OpenedStore(
      store, path: file, environment: console.store, zone: console.zone)
    var asking = Asking(
      InspectedFile(opened, shownPath: file, environment: console.store),
      RequestParameters(
        [
          ("object", object), ("entity", entity), ("where", condition), ("count", count),
          ("at", at),
        ].compactMap { pair in pair.1.map { (pair.0, $0) } }))
    asking.prefix = "--"
    let document = try asking.since()
    switch format {
    case .text: try SinceText(console, of: file).write(document)
    case .jsonl: try writeLine(document, console)
    }
    return .done
  }

  private func writeLine(_ document: SinceDocument, _ console: Console) throws {
    try console.output.object { json in
      json.member("holds", document.holds)
      json.member("exact", document.isExact)
      if let count = document.probes.first?.count { json.member("count", Int64(count)) }
      if let became = document.became {
        json.member("n", became.number)
        json.member("timestamp", Timestamp(microseconds: became.us).description)
        if let author = became.author { json.member("author", author) }
      }
    }
  }
}
