import AnnalsEngine
import AnnalsModel
import AnnalsState

/// What a salvage brought over from a damaged file, and what it could not.
public struct SalvageReport: Sendable {
  /// The transactions that are missing, in the order of their numbers; gaps of an earlier salvage
  /// are not among them.
  ///
  /// As possibly stale (`LostTransactions.stale`) count the objects that are still there behind a
  /// gap and of which later transactions do not tell all. One that is deleted later, or all of
  /// whose properties are changed, is known; one with a list of which only edits are known, or with
  /// a property that nothing later changes, is not. Objects that lost transactions inserted and
  /// none behind them mentions are missing, and not counted.
  public internal(set) var lost: [LostTransactions] = []
  /// How many transactions were brought over.
  public internal(set) var transactions: Int64 = 0
  /// The number of the newest transaction of the new store.
  public internal(set) var head: Int64 = 0
  /// The large values whose bytes are missing.
  public internal(set) var lostValues: [LargeValue] = []
  /// Whether the file tells where it ended, as that of a closed store does. Otherwise what was
  /// written last may be gone without a trace: zeros in its place look as space that was never
  /// written to.
  public internal(set) var hasProvenEnd = false
  /// Whether the store's UUID could not be read any more, so that the new store has another, and
  /// tokens of the old one do not fit it.
  public internal(set) var hasNewIdentity = false
  /// What could not be read behind the newest transaction, where nobody can tell whether it held
  /// any: how many bytes, and why; 0 bytes if the file was cut off. Nil if nothing was there, as
  /// far as the file tells: what was written to a store that had been closed, by a process that
  /// was killed before it synced a second time, leaves no trace once it is cut off.
  public internal(set) var rest: (bytes: UInt64, reason: String)?
  /// What was found and needs nothing done: where the header came from, what was built anew.
  public internal(set) var notes: [String] = []
  /// The names of the new store's entities.
  private var entityNames: [EntityNumber: String] = [:]
  /// Which objects of the newest state have a lost value, in words: the first few, and how many.
  private var holders: [UInt64: (texts: [String], count: Int)] = [:]

  /// Whether everything was brought over, as far as the file tells (`hasProvenEnd`).
  public var isComplete: Bool {
    lost.isEmpty && lostValues.isEmpty && !hasNewIdentity && rest == nil
  }

  /// The report in lines for people, with dates in UTC.
  public func lines() -> [String] { lines { $0.description } }

  /// The report in lines for people; `date` writes a moment.
  package func lines(_ date: (Timestamp) -> String) -> [String] {
    var lines = lost.map { "lost: \(text(of: $0, date))" }
    if let rest {
      let place =
        rest.bytes > 0
        ? "what stood in the \(rest.bytes) bytes behind transaction \(head)"
        : head > 0 ? "everything behind transaction \(head)" : "every transaction"
      lines.append("perhaps lost: \(place) (\(rest.reason))")
    }
    for value in lostValues.sorted(by: { $0.number < $1.number }) {
      lines.append(
        "lost: the \(value.length) bytes of large value \(value.number), \(holderText(of: value))")
    }
    if hasNewIdentity {
      lines.append(
        "lost: the store's UUID; the new store has another, which tokens of the old do not fit")
    }
    return lines + notes.map { "note: \($0)" }
  }

  /// Takes the names of entities, and who has lost values, from the newest state.
  mutating func note(_ state: State) throws(StateFault) {
    for entity in state.schema.entities { entityNames[entity.number] = entity.name }
    if lostValues.isEmpty { return }
    let lost = Set(lostValues.map(\.number))
    var found: [UInt64: (texts: [String], count: Int)] = [:]
    try state.forEachLargeValue { object, property, value in
      guard lost.contains(value.number) else { return }
      found[value.number, default: ([], 0)].count += 1
      guard (found[value.number]?.texts.count ?? 0) < 3 else { return }
      let entity = state.schema.entity(numbered: object.entity)
      let name = entity?.attributes.first { $0.number == property }?.name ?? "\(property)"
      found[value.number]?.texts.append("\(name) of \(entity?.name ?? "")#\(object.row)")
    }
    holders = found
  }

  private func holderText(of value: LargeValue) -> String {
    guard let (texts, count) = holders[value.number] else { return "which only the history has" }
    return texts.joined(separator: ", ")
      + (count > texts.count ? " and \(count - texts.count) others" : "")
  }

  private func text(of lost: LostTransactions, _ date: (Timestamp) -> String) -> String {
    var text = "\(lost)"
    let hasBegin = lost.after.microseconds > 0
    switch (hasBegin, lost.before) {
    case (true, let before?): text += ", between \(date(lost.after)) and \(date(before))"
    case (true, nil): text += ", after \(date(lost.after))"
    case (false, let before?): text += ", before \(date(before))"
    case (false, nil): break
    }
    if lost.isExact {
      text += "; the state behind is exact"
    } else {
      let counts = lost.stale.map { count in
        let name = entityNames[count.entity] ?? "entity \(count.entity)"
        return "\(count.objects) \(count.objects == 1 ? "object" : "objects") of \(name)"
      }
      // Without a state before them, nothing is old, but things are missing.
      let isAll = lost.first == 1
      if !counts.isEmpty {
        text += "; \(counts.joined(separator: ", ")) may be \(isAll ? "incomplete" : "stale")"
      }
      if isAll {
        text += "; objects that only they told of are missing"
      } else if counts.isEmpty {
        text += "; no object can be stale"
      }
    }
    return text + " (\(lost.reason))"
  }
}
