import Annals
import AnnalsInspector
import ArgumentParser

struct ConsumersCommand: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "consumers", abstract: "Lists, registers and removes readers of the history.",
    discussion: """
      annals consumers FILE [list]
      annals consumers FILE add NAME
      annals consumers FILE remove NAME

      A consumer is a named reader of the history; the store keeps its position. prune waits for a \
      blocking consumer while its lease runs: from when it was last seen, for a time like \
      90m, 12h, 30d, 2w or 1y, or forever. add registers a consumer, or changes options of an \
      existing one. list shows how far each is behind: in transactions, in their changes, and the \
      age of the oldest.

      \(Vocabulary.token)
      """)

  /// The action.
  enum Action: String, ExpressibleByArgument, CaseIterable {
    case list, add, remove
  }

  @Argument(help: "The store.", completion: .file()) var file: String
  @Argument(help: "list, add or remove.") var action: Action = .list
  @Argument(help: "The consumer's name.") var name: String?
  @Option(parsing: .unconditional, help: "The kind of reader, as free text.") var kind: String?
  @Flag(inversion: .prefixedNo, help: "Whether prune waits for it.") var blocking: Bool?
  @Option(parsing: .unconditional, help: "How long prune waits: a time, or forever.")
  var lease: String?
  @Option(
    parsing: .unconditional,
    help: "The TOKEN at which a new consumer starts. Default: the base.")
  var after: String?

  func validate() throws {
    guard (name == nil) == (action == .list) else {
      throw ValidationError(
        action == .list ? "list takes no NAME" : "\(action.rawValue) takes a NAME")
    }
    if name?.isEmpty == true { throw ValidationError("NAME is empty") }
    let isPlain = kind == nil && blocking == nil && lease == nil && after == nil
    guard isPlain || action == .add else { throw ValidationError("options are for add") }
  }

  func run(_ console: Console) throws -> ExitStatus {
    guard let name else { return try list(console) }
    let lease = try self.lease.map(ConsumersCommand.lease)
    let store = try console.openForWriting(file)
    defer { try? store.close() }
    if action == .add {
      if after != nil, store.consumers.contains(where: { $0.name.hasSameBytes(as: name) }) {
        throw CommandFailure(
          "there is a consumer `\(name)` already, and --after is for a new one. Remove it first to "
            + "let it start elsewhere")
      }
      let start = try after.map { try console.number($0, in: store) }
      let status = try store.consumer(
        name, kind: kind, blocking: blocking, lease: lease, startingAfter: start
      ).status
      try store.close()
      try console.output.line(
        "\(ValueText.plain(status.name)) has seen transaction \(status.token.number)")
      return .done
    }
    guard try store.removeConsumer(name) else {
      let others = store.consumers.map { "`\($0.name)`" }.joined(separator: ", ")
      throw CommandFailure(
        "there is no consumer `\(name)`" + (others.isEmpty ? "" : "; there are \(others)"))
    }
    try store.close()
    try console.output.line("\(ValueText.plain(name)) is removed")
    return .done
  }

  private static func lease(_ text: String) throws -> ConsumerLease {
    if text == "forever" { return .forever }
    guard let length = RelativeDate.length(text) else {
      throw CommandFailure(
        "`\(text)` is no lease; use a time like 90m, 12h, 30d, 2w or 1y, or forever",
        status: .usage)
    }
    return ConsumerLease(length: length)
  }

  private func list(_ console: Console) throws -> ExitStatus {
    let store = try console.openForReading(file, holdingValues: false)
    defer { try? store.close() }
    guard !store.consumers.isEmpty else {
      try console.output.line("no consumers")
      return .done
    }
    let table = try RowTable(
      [
        "consumer", "kind", "seen", "behind", "changes", "for", "last seen", "lease to", "blocking",
      ], isCSV: false, console)
    for status in store.consumers {
      let lag = try store.consumer(status.name).lag()
      try table.write([
        status.name, status.kind, Numerals.grouped(status.token.number),
        Numerals.grouped(lag.transactions) + (lag.isPruned ? " (pruned)" : ""),
        Numerals.grouped(lag.changes), Numerals.length(lag.time),
        console.zone.text(Timestamp(status.lastSeen)),
        status.expiry.map { console.zone.text(Timestamp($0)) } ?? "forever",
        !status.isBlocking ? "no" : status.isLeaseRunning ? "yes" : "no more",
      ])
    }
    try table.flush()
    return .done
  }
}
