import Annals
import AnnalsExchange
import Foundation

/// Prints the updates of live views, one at a time, until `end()`.
///
/// Updates arrive on any thread; the lock serialises them and the use of the console.
final class Watch: @unchecked Sendable {
  private let store: Store
  private let console: Console
  private let format: LineFormat
  private let lock = NSLock()
  private let ended = DispatchSemaphore(value: 0)
  /// The number of steps still to be printed; nil for no limit.
  private var stepsLeft: Int?
  private var isOver = false
  private var failure: (any Error)?
  /// The rows of each entity before the next step.
  private var rows: [String: RowList<StoredObject>] = [:]

  /// The entity whose objects are watched; nil for all.
  private let entity: String?
  /// The number of views whose initial rows have not arrived.
  private var missing: Int

  init(
    _ store: Store, _ console: Console, _ format: LineFormat, of entity: String?, viewCount: Int,
    steps: Int?
  ) {
    self.store = store
    self.console = console
    self.format = format
    self.entity = entity
    missing = viewCount
    stepsLeft = steps
  }

  /// Records the initial rows of a view, and prints their number when all views have theirs.
  private func begin(_ update: LiveUpdate<StoredObject>) throws {
    missing -= 1
    guard missing == 0 else { return }
    let count = rows.values.reduce(0) { $0 + $1.count }
    switch format {
    case .text:
      let name = entity.map { " of " + ValueText.plain($0) } ?? ""
      let noun = count == 1 ? "object" : "objects"
      try console.output.line("watching \(Numerals.grouped(count)) \(noun)\(name)")
    case .jsonl:
      try console.output.line(#"{"watching":\#(count),"transaction":\#(update.token.number)}"#)
    }
    try console.output.flush()
  }

  /// Ends the printing.
  func end() { ended.signal() }

  /// Waits for the end. Throws the first error of a view or of the output.
  func wait() throws {
    ended.wait()
    lock.lock()
    defer { lock.unlock() }
    isOver = true
    if let failure { throw failure }
  }

  /// Prints an update.
  func show(_ step: Result<LiveUpdate<StoredObject>, AnnalsError>) {
    lock.lock()
    defer { lock.unlock() }
    guard !isOver else { return }
    do {
      let update = try step.get()
      let entity = update.rows.entityName
      guard let old = rows.updateValue(update.rows, forKey: entity), !update.isInitial else {
        return try begin(update)
      }
      switch format {
      case .text: try writeText(update, old)
      case .jsonl: try writeLines(update, old)
      }
      try console.output.flush()
      guard let left = stepsLeft else { return }
      stepsLeft = left - 1
      if left > 1 { return }
    } catch {
      failure = error
    }
    isOver = true
    ended.signal()
  }

  private func writeText(
    _ update: LiveUpdate<StoredObject>, _ old: RowList<StoredObject>
  ) throws {
    let text = TransactionText(console)
    try text.writeHead(try store.transaction(update.token.number))
    let (diff, new) = (update.diff, update.rows)
    for place in diff.deletes {
      try write("-", "\(place.position)", try old.name(at: place), .deleted)
    }
    for place in diff.inserts {
      try write("+", "\(place.position)", try new.name(at: place), .inserted)
    }
    for step in diff.moves {
      try write(
        ">", "\(step.from.position) → \(step.to.position)",
        try new.name(at: step.to) + details(step, update, old, text), .updated)
    }
    for step in diff.updates {
      try write(
        "~", "\(step.to.position)",
        try new.name(at: step.to) + details(step, update, old, text), .updated)
    }
  }

  private func write(_ mark: String, _ place: String, _ rest: String, _ style: Style) throws {
    try console.output.line(console.output.styled("    \(mark) \(place)  \(rest)", style))
  }

  /// The changed properties: `  title: "Fog" → "Mist"`.
  private func details(
    _ step: ListDiff.Step, _ update: LiveUpdate<StoredObject>, _ old: RowList<StoredObject>,
    _ text: TransactionText
  ) throws -> String {
    let (before, after) = (try old[step.from.position], try update.rows[step.to.position])
    let parts = try update.diff.changedProperties(of: step).map { name in
      let was = try text.text(before[name]) { () throws(AnnalsError) in
        old.snapshot.reader
      }
      let becomes = try text.text(after[name]) { () throws(AnnalsError) in
        update.rows.snapshot.reader
      }
      return "\(ValueText.plain(name)): \(was) → \(becomes)"
    }
    return parts.isEmpty ? "" : "  " + parts.joined(separator: ", ")
  }

  /// A line of JSON for each row: `change`, `transaction`, `from`, `to`, `properties`, `object`.
  private func writeLines(
    _ update: LiveUpdate<StoredObject>, _ old: RowList<StoredObject>
  ) throws {
    let diff = update.diff
    for place in diff.deletes { try writeLine("delete", update, old, from: place, to: nil, nil) }
    for place in diff.inserts { try writeLine("insert", update, old, from: nil, to: place, nil) }
    for step in diff.moves {
      try writeLine("move", update, old, from: step.from, to: step.to, step)
    }
    for step in diff.updates {
      try writeLine("update", update, old, from: step.from, to: step.to, step)
    }
  }

  private func writeLine(
    _ change: String, _ update: LiveUpdate<StoredObject>, _ old: RowList<StoredObject>,
    from: ListDiff.Place?, to: ListDiff.Place?, _ step: ListDiff.Step?
  ) throws {
    var json = JSONWriter()
    json.beginObject()
    json.key("change")
    json.string(change)
    json.key("transaction")
    json.int(update.token.number)
    if let from {
      json.key("from")
      json.int(Int64(from.position))
    }
    if let to {
      json.key("to")
      json.int(Int64(to.position))
    }
    if let step {
      json.key("properties")
      json.beginArray()
      for name in update.diff.changedProperties(of: step) { json.string(name) }
      json.endArray()
    }
    json.key("object")
    let rows = to == nil ? old : update.rows
    var state = CanonicalState(rows.snapshot)
    try state.write(ObjectReference(rows.objectIDs[(to ?? from)?.position ?? 0])) { line in
      json.verbatim(line.dropLast())
    }
    json.endObject()
    json.endLine()
    try console.output.write(json.bytes)
  }
}

extension RowList<StoredObject> {
  /// The name of the rows' entity.
  fileprivate var entityName: String { snapshot.schema.entity(numbered: entity)?.name ?? "" }

  /// The name of the object at a place.
  fileprivate func name(at place: ListDiff.Place) throws -> String {
    ValueText.plain(
      try snapshot.reader.name(of: ObjectReference(objectIDs[place.position])).text)
  }
}
