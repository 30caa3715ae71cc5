import Annals
import AnnalsExchange
import AnnalsInspector
import Foundation

/// Prints the updates of live views, one at a time, until `end()`.
///
/// Updates arrive on any thread; the lock serialises them and the use of the console.
final class Watch: @unchecked Sendable {
  private let store: Store
  private let console: Console
  private let format: LineFormat
  private let lock = NSLock()
  /// What ends the printing.
  let ended = DispatchSemaphore(value: 0)
  /// The number of steps still to be printed; nil for no limit.
  private var stepsLeft: Int?
  private var isOver = false
  private var failure: (any Error)?
  /// The rows of each entity before the next step.
  private var rows: [EntityNumber: RowList<DynamicObject>] = [:]
  private var observations: [LiveObservation] = []

  /// The entity whose objects are watched; nil for all.
  private let entity: String?
  /// The number of views whose initial rows have not arrived.
  private var missing: Int

  init(
    _ store: Store, _ console: Console, _ format: LineFormat, of entity: String?, viewCount: Int,
    steps: Int?
  ) throws {
    self.store = store
    self.console = console
    self.format = format
    self.entity = entity
    missing = viewCount
    stepsLeft = steps
    if missing == 0 { try printCount(asOf: store.token.number) }
  }

  /// Prints the updates of a view from now on. What is in a `later` view is new in its first one.
  func observe(_ view: LiveView<DynamicObject>, isLater: Bool = false) {
    let observation = view.observe { self.print($0, isLater) }
    lock.lock()
    defer { lock.unlock() }
    if !isOver { observations.append(observation) }
  }

  /// Watches each entity that is added after a state, until the task is cancelled. Only
  /// transactions that meet the condition are looked at.
  func observeEntities(
    after start: Snapshot, where condition: HistoryCondition
  ) throws -> Task<Void, Never> {
    let transactions = try store.changes(after: start.token, where: condition)
    return Task {
      var known = Set(start.schema.entities.map(\.number))
      do throws(AnnalsError) {
        for try await transaction in transactions {
          for entity in transaction.schema.entities
          where !entity.isRemoved && known.insert(entity.number).inserted {
            observe(
              store.live(entity.name, delivery: .everyTransaction, updatesFor: condition),
              isLater: true)
          }
        }
      } catch {
        print(.failure(error), true)
      }
    }
  }

  /// Prints how many objects there are.
  private func printCount(asOf number: Int64) throws {
    let count = rows.values.reduce(0) { $0 + $1.count }
    switch format {
    case .text:
      let name = entity.map { " of " + ValueText.plain($0) } ?? ""
      let noun = count == 1 ? "object" : "objects"
      try console.output.line("watching \(Numerals.grouped(count)) \(noun)\(name)")
    case .jsonl:
      try console.output.line(#"{"watching":\#(count),"transaction":\#(number)}"#)
    }
    try console.output.flush()
  }

  /// Waits for the end. Throws the first error of a view or of the output.
  func wait() throws {
    ended.wait()
    lock.lock()
    defer { lock.unlock() }
    isOver = true
    observations.removeAll()
    if let failure { throw failure }
  }

  private func print(_ step: Result<LiveUpdate<DynamicObject>, AnnalsError>, _ isLater: Bool) {
    lock.lock()
    defer { lock.unlock() }
    guard !isOver else { return }
    do {
      let update = try step.get()
      // A view's first update has no rows before.
      let old = rows.updateValue(update.rows, forKey: update.rows.entity) ?? update.rows
      if update.isInitial, !isLater {
        missing -= 1
        if missing == 0 { try printCount(asOf: update.token.number) }
        return
      }
      guard !update.diff.isEmpty else { return }
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
    _ update: LiveUpdate<DynamicObject>, _ old: RowList<DynamicObject>
  ) throws {
    let text = TransactionText(console)
    let showing = ValueShowing(.whole(), store.version)
    let transaction = try store.transaction(update.token.number)
    try text.writeHead(
      TransactionShowing(ChangeShowing(values: showing)).header(
        transaction, changes: transaction.changes.count))
    let (diff, new) = (update.diff, update.rows)
    for place in diff.deletes {
      try write("-", "\(place.position)", try old.name(at: place), .deleted)
    }
    for place in diff.inserts {
      try write("+", "\(place.position)", try new.name(at: place), .inserted)
    }
    for (mark, steps) in [(">", diff.moves), ("~", diff.updates)] {
      for step in steps {
        let from = mark == ">" ? "\(step.from.position) → " : ""
        try write(
          mark, "\(from)\(step.to.position)",
          try new.name(at: step.to) + details(step, update, old, text.values, showing), .updated)
      }
    }
  }

  private func write(_ mark: String, _ place: String, _ rest: String, _ style: Style) throws {
    try console.output.line("    \(mark) \(place)  \(rest)", style)
  }

  /// The changed properties: `  title: "Fog" → "Mist"`.
  private func details(
    _ step: ListDiff.Step, _ update: LiveUpdate<DynamicObject>, _ old: RowList<DynamicObject>,
    _ text: ValueText, _ showing: ValueShowing
  ) throws -> String {
    let (before, after) = (try old[step.from.position], try update.rows[step.to.position])
    let parts = try update.diff.changedProperties(of: step).map { name in
      let was = try showing.shown(before[name], in: old.snapshot.reader)
      let becomes = try showing.shown(after[name], in: update.rows.snapshot.reader)
      return "\(ValueText.plain(name)): \(text.text(was)) → \(text.text(becomes))"
    }
    return parts.isEmpty ? "" : "  " + parts.joined(separator: ", ")
  }

  /// A line of JSON for each row: `change`, `transaction`, `from`, `to`, `properties`, `object`.
  private func writeLines(
    _ update: LiveUpdate<DynamicObject>, _ old: RowList<DynamicObject>
  ) throws {
    let diff = update.diff
    for place in diff.deletes { try writeLine("delete", update, old, from: place, to: nil, nil) }
    for place in diff.inserts { try writeLine("insert", update, old, from: nil, to: place, nil) }
    for (change, steps) in [("move", diff.moves), ("update", diff.updates)] {
      for step in steps {
        try writeLine(change, update, old, from: step.from, to: step.to, step)
      }
    }
  }

  private func writeLine(
    _ change: String, _ update: LiveUpdate<DynamicObject>, _ old: RowList<DynamicObject>,
    from: ListDiff.Place?, to: ListDiff.Place?, _ step: ListDiff.Step?
  ) throws {
    try console.output.object { json in
      json.member("change", change)
      json.member("transaction", update.token.number)
      if let from { json.member("from", Int64(from.position)) }
      if let to { json.member("to", Int64(to.position)) }
      if let step {
        json.beginArray("properties")
        for name in update.diff.changedProperties(of: step) { json.string(name) }
        json.endArray()
      }
      json.key("object")
      let rows = to == nil ? old : update.rows
      var state = CanonicalState(rows.snapshot)
      try state.write(ObjectReference(rows.objectIDs[(to ?? from)?.position ?? 0])) { line in
        json.verbatim(line.dropLast())
      }
    }
  }
}

extension RowList<DynamicObject> {
  /// The name of the object at a place.
  fileprivate func name(at place: ListDiff.Place) throws -> String {
    ValueText.plain(
      try snapshot.reader.name(of: ObjectReference(objectIDs[place.position])).text)
  }
}
