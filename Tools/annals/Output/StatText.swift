import Annals
import AnnalsDescription
import AnnalsInspection
import AnnalsInspector

/// Formats the statistics of a file on one screen.
struct StatText {
  private let statistics: FileStatistics
  private let console: Console
  /// The greatest number of lines in a list.
  private static let listed = 8

  init(_ statistics: FileStatistics, _ console: Console) {
    self.statistics = statistics
    self.console = console
  }

  /// Writes the screen. `store`, nil if it could not be opened, adds live objects and consumers.
  func write(_ path: String, _ store: Store?) throws {
    try line("file", "\(path)  \(Numerals.size(statistics.fileSize))")
    if let store {
      try line("store", "\(store.token.store)")
      try line("numbers", "base \(store.base.number), head \(store.token.number)")
    }
    let changes = ChangeKind.allCases.map {
      "\(Numerals.counted(statistics.changesByKind[$0] ?? 0, "\($0)"))"
    }.joined(separator: ", ")
    try line(
      "transactions",
      "\(Numerals.grouped(statistics.transactions)) "
        + "(\(Numerals.grouped(statistics.emptyTransactions)) empty)")
    try line("changes", "\(Numerals.grouped(statistics.changes)): \(changes)")
    if let store { try writeObjects(store) }
    if let earliest = statistics.earliest, let latest = statistics.latest {
      try line("dates", "\(console.zone.text(earliest)) to \(console.zone.text(latest))")
    }
    try line(
      "clock",
      "\(Numerals.counted(statistics.clockJumps, "jump")) back; "
        + "\(Numerals.grouped(statistics.timestampsBack)) dated earlier than the one before"
    )
    try line("authors", names(statistics.authors))
    try line("openings", Numerals.grouped(statistics.openings))
    if let store {
      try writeConsumers(store)
      for text in Remedy.unfinishedErasures(of: store, in: path).prefix(StatText.listed) {
        try line("not erased", text)
      }
    }
    for (place, text) in statistics.features { try line(place, text) }
    try writeBytes()
  }

  /// The consumers, the retention, and what maintenance would do now.
  private func writeConsumers(_ store: Store) throws {
    let consumers = store.consumers
    let shown = consumers.prefix(StatText.listed).map { consumer in
      let mark = !consumer.isBlocking ? "" : consumer.isLeaseRunning ? ", blocking" : ", expired"
      return
        "\(ValueText.plain(consumer.name)) at \(Numerals.grouped(consumer.token.number))\(mark)"
    }
    if !shown.isEmpty {
      let more = consumers.count - shown.count
      try line(
        "consumers",
        "\(Numerals.grouped(consumers.count)): \(shown.joined(separator: "; "))"
          + (more > 0 ? "; … \(Numerals.grouped(more)) more" : ""))
    }
    // An unreadable history was reported before.
    guard !store.retention.isOff, let plan = try? store.maintenancePlan() else { return }
    try line("keeps", "\(plan.retention)")
    let lines = MaintenanceText.lines(plan, console)
    if !lines.isEmpty { try line("maintain", lines.prefix(4).joined(separator: "; ")) }
  }

  private func writeObjects(_ store: Store) throws {
    let version = store.version
    let counts = store.schema.liveEntities
      .map { ($0.name, version.objectCount(of: $0.number)) }
    let text = counts.sorted { $0.1 > $1.1 }.prefix(StatText.listed).map {
      "\($0.0) \(Numerals.grouped($0.1))"
    }.joined(separator: ", ")
    let more = counts.count > StatText.listed ? ", … \(counts.count - StatText.listed) more" : ""
    try line("objects", "\(Numerals.grouped(counts.reduce(0) { $0 + $1.1 })): \(text)\(more)")
  }

  private func names(_ list: [(name: String?, transactions: Int64)]) -> String {
    let shown = list.prefix(5).map {
      "\(ValueText.plain($0.name ?? "(none)")) \(Numerals.grouped($0.transactions))"
    }.joined(separator: ", ")
    let more = list.count > 5 ? ", … \(Numerals.grouped(list.count - 5)) more" : ""
    return Numerals.grouped(list.count) + (list.isEmpty ? "" : ": \(shown)\(more)")
  }

  private func writeBytes() throws {
    try console.output.line()
    try console.output.line("bytes by use", .bold)
    for use in ByteUse.allCases {
      let bytes = statistics.bytesByUse[use] ?? 0
      if bytes > 0 { try share(use.rawValue, bytes) }
    }
    let shares = statistics.shares.filter { $0.totalBytes > 0 }
    if shares.isEmpty { return }
    try console.output.line()
    try console.output.line("bytes by property (history, state, large values)", .bold)
    for item in shares.prefix(StatText.listed) {
      let name = item.propertyName.map { "\(item.entityName).\($0)" } ?? "\(item.entityName)"
      let parts = [item.historyBytes, item.stateBytes, item.largeValueBytes].map {
        Numerals.size($0)
      }
      try share(ValueText.plain(name), item.totalBytes, parts.joined(separator: ", "))
    }
    if shares.count > StatText.listed {
      let rest = shares.dropFirst(StatText.listed)
      try share(
        "… \(Numerals.grouped(rest.count)) more", rest.reduce(0) { $0 + $1.totalBytes })
    }
  }

  private func line(_ name: String, _ text: String) throws {
    try console.output.line("\(name.padded(right: 14))\(text)")
  }

  private func share(_ name: String, _ bytes: UInt64, _ detail: String = "") throws {
    let size = Numerals.size(bytes).padded(left: 12)
    let part = Numerals.share(bytes, of: statistics.fileSize).padded(left: 7)
    let line = "  \(name.padded(right: 28))\(size)\(part)"
    try console.output.line(detail.isEmpty ? line : "\(line)  \(detail)")
  }
}
