import Annals
import AnnalsInspector

/// Formats what is in a file, and what its bytes are used for, on one screen.
struct StatText {
  private let console: Console
  /// The greatest number of lines in a list.
  private static let listed = 8

  init(_ console: Console) { self.console = console }

  /// Writes the screen. `summary`, nil if the store could not be opened, adds live objects and
  /// consumers.
  func write(_ path: String, _ space: SpaceDocument, _ summary: SummaryDocument?) throws {
    try line("file", "\(path)  \(Numerals.size(space.size))")
    if let summary {
      try line("store", summary.uuid)
      try line("numbers", "base \(summary.base), head \(summary.head)")
    }
    if let contents = space.contents { try write(contents, summary) }
    try writeBytes(space)
  }

  private func write(_ contents: SpaceDocument.Contents, _ summary: SummaryDocument?) throws {
    let kinds = [
      (contents.inserts, "insert"), (contents.updates, "update"), (contents.deletes, "delete"),
    ]
    try line(
      "transactions",
      "\(Numerals.grouped(contents.transactions)) "
        + "(\(Numerals.grouped(contents.emptyTransactions)) empty)")
    try line(
      "changes",
      "\(Numerals.grouped(kinds.reduce(0) { $0 + $1.0 })): "
        + kinds.map { Numerals.counted($0.0, $0.1) }.joined(separator: ", "))
    if let summary { try writeObjects(summary.objects) }
    if let earliest = contents.earliestUs, let latest = contents.latestUs {
      try line("dates", "\(date(earliest)) to \(date(latest))")
    }
    try line(
      "clock",
      "\(Numerals.counted(contents.clockJumps, "jump")) back; "
        + "\(Numerals.grouped(contents.datedBack)) dated earlier than the one before"
    )
    try line("authors", names(contents.authors, of: contents.authorCount))
    try line("openings", Numerals.grouped(contents.openings))
    if let summary {
      try writeConsumers(summary)
      try summary.maintenance.map(writeMaintenance)
      for unfinished in summary.unfinishedErasures.prefix(StatText.listed) {
        try line("not erased", Remedy.text(of: unfinished))
      }
    }
    for feature in contents.features { try line(feature.place, feature.text) }
  }

  private func date(_ us: Int64) -> String { console.zone.text(Timestamp(microseconds: us)) }

  private func writeConsumers(_ summary: SummaryDocument) throws {
    let shown = summary.consumers.prefix(StatText.listed).map { consumer in
      let mark = !consumer.isBlocking ? "" : consumer.isLeaseRunning ? ", blocking" : ", expired"
      return "\(ValueText.plain(consumer.name)) at \(Numerals.grouped(consumer.number))\(mark)"
    }
    guard !shown.isEmpty else { return }
    let count = summary.consumers.count + summary.moreConsumers
    let more = count - shown.count
    try line(
      "consumers",
      "\(Numerals.grouped(count)): \(shown.joined(separator: "; "))"
        + (more > 0 ? "; … \(Numerals.grouped(more)) more" : ""))
  }

  /// The retention, and what maintenance would do now.
  private func writeMaintenance(_ plan: MaintenanceSummary) throws {
    try line("keeps", plan.retention)
    let lines = MaintenanceText.lines(plan)
    if !lines.isEmpty { try line("maintain", lines.prefix(4).joined(separator: "; ")) }
  }

  private func writeObjects(_ counts: [EntityCount]) throws {
    let text = counts.prefix(StatText.listed).map {
      "\($0.entity) \(Numerals.grouped($0.count))"
    }.joined(separator: ", ")
    let more = counts.count > StatText.listed ? ", … \(counts.count - StatText.listed) more" : ""
    try line("objects", "\(Numerals.grouped(counts.reduce(0) { $0 + $1.count })): \(text)\(more)")
  }

  private func names(_ list: [SpaceDocument.Contents.Author], of count: Int) -> String {
    let shown = list.prefix(5).map {
      "\(ValueText.plain($0.author ?? "(none)")) \(Numerals.grouped($0.transactions))"
    }.joined(separator: ", ")
    let more = count > 5 ? ", … \(Numerals.grouped(count - 5)) more" : ""
    return Numerals.grouped(count) + (count == 0 ? "" : ": \(shown)\(more)")
  }

  private func writeBytes(_ space: SpaceDocument) throws {
    try console.output.line()
    try console.output.line("bytes by use", .bold)
    for use in space.uses { try share(use.use, use.bytes, of: space) }
    if space.properties.isEmpty { return }
    try console.output.line()
    try console.output.line("bytes by property (history, state, large values)", .bold)
    for item in space.properties.prefix(StatText.listed) {
      let name = item.property.map { "\(item.entity).\($0)" } ?? item.entity
      let parts = [item.history, item.state, item.large].map { Numerals.size($0) }
      try share(ValueText.plain(name), item.bytes, of: space, parts.joined(separator: ", "))
    }
    let rest = space.properties.dropFirst(StatText.listed)
    let more = rest.count + space.moreProperties
    if more > 0 {
      let bytes = rest.reduce(space.moreBytes) { $0 + $1.bytes }
      try share("… \(Numerals.grouped(more)) more", bytes, of: space)
    }
  }

  private func line(_ name: String, _ text: String) throws {
    try console.output.line("\(name.padded(right: 14))\(text)")
  }

  private func share(
    _ name: String, _ bytes: UInt64, of space: SpaceDocument, _ detail: String = ""
  ) throws {
    let size = Numerals.size(bytes).padded(left: 12)
    let part = Numerals.share(bytes, of: space.size).padded(left: 7)
    let line = "  \(name.padded(right: 28))\(size)\(part)"
    try console.output.line(detail.isEmpty ? line : "\(line)  \(detail)")
  }
}
