import AnnalsEngine
import AnnalsModel
import AnnalsState

/// The result of a salvage: what was copied from a damaged file, and what is lost.
public struct SalvageReport: Sendable {
  /// The lost transactions, by number, without gaps of an earlier salvage.
  ///
  /// Possibly stale objects (`LostTransactions.stale`) are those that exist after a gap and that
  /// later transactions do not describe completely. An object that is deleted later, or all of
  /// whose properties are changed later, is known. One with a list of which only edits are known,
  /// or with a property that nothing later changes, is possibly stale. Objects that lost
  /// transactions inserted and no later one mentions are missing, and not counted.
  public internal(set) var lost: [LostTransactions] = []
  /// How many transactions were copied.
  public internal(set) var transactions: Int64 = 0
  /// The number of the newest transaction of the new store.
  public internal(set) var head: Int64 = 0
  /// The large values whose bytes are missing.
  public internal(set) var lostValues: [LargeValue] = []
  /// Whether the file proves where it ended, as that of a closed store does. Otherwise the last
  /// writes may be lost without a trace: zeros in their place look like space that was never
  /// written.
  public internal(set) var hasProvenEnd = false
  /// Whether the store's UUID could not be read. Then the new store has another, and tokens of the
  /// old one do not fit it.
  public internal(set) var hasNewIdentity = false
  /// Unreadable bytes after the last transaction, and why; nil if there are none. 0 bytes if the
  /// file was cut off.
  ///
  /// Nobody can tell whether they held transactions. Nil is what the file tells: commits to a store
  /// that had been closed, by a process killed before its second sync, leave no trace once they are
  /// cut off.
  public internal(set) var rest: (bytes: UInt64, reason: String)?
  /// Findings that need no action: where the header came from, what was rebuilt.
  public internal(set) var notes: [String] = []
  /// The names of the new store's entities.
  private var entityNames: [EntityNumber: String] = [:]
  /// Which objects of the newest state have a lost value, in words: the first few, and how many.
  private var holders: [UInt64: (texts: [String], count: Int)] = [:]

  /// Whether everything was copied, as far as the file tells (`hasProvenEnd`).
  public var isComplete: Bool {
    lost.isEmpty && lostValues.isEmpty && !hasNewIdentity && rest == nil
  }

  /// The report as lines for people, with dates in UTC.
  public func lines() -> [String] { lines { $0.description } }

  /// The report as lines for people; `date` formats a moment.
  package func lines(_ date: (Timestamp) -> String) -> [String] {
    var lines = lost.map { "lost: \(text(of: $0, date))" }
    if let rest {
      let place =
        rest.bytes > 0
        ? "what stood in the \(rest.bytes) bytes after transaction \(head)"
        : head > 0 ? "everything after transaction \(head)" : "every transaction"
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

  /// Collects the names of entities, and the objects with lost values, from the newest state.
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
    let more = count - texts.count
    return texts.joined(separator: ", ")
      + (more > 0 ? " and \(more) \(more == 1 ? "other" : "others")" : "")
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
      text += "; the state after it is exact"
    } else {
      let counts = lost.stale.map { count in
        let name = entityNames[count.entity] ?? "entity \(count.entity)"
        return "\(count.objects) \(count.objects == 1 ? "object" : "objects") of \(name)"
      }
      // Without a state before the gap, nothing is stale, but objects are missing.
      let isAll = lost.first == 1
      if !counts.isEmpty {
        text += "; \(counts.joined(separator: ", ")) may be \(isAll ? "incomplete" : "stale")"
      }
      if isAll {
        text += "; objects that only they mentioned are missing"
      } else if counts.isEmpty {
        text += "; no object can be stale"
      }
    }
    return text + " (\(lost.reason))"
  }
}
