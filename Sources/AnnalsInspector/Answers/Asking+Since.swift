import Annals
import AnnalsLog
import AnnalsModel

extension Asking {
  /// Since when a condition has held: a bisection of history, in O(log n) states.
  package func since() throws -> SinceDocument {
    let store = try opened()
    let version = store.version
    let end = try store.number(parameters["at"])
    let claim = try Claim(self, store, asOf: end)
    var probes: [SinceDocument.Probe] = []
    func holds(_ number: Int64) throws -> Bool {
      try cancellation.check()
      let probe = try claim.probe(number, in: store)
      probes.append(probe)
      return probe.holds
    }
    let base = version.view.base
    let last = try holds(end)
    var (low, high) = (base, end)
    var isFound = false
    if try end > base && holds(base) != last {
      // The answer at `low` differs from that at `high`, which is the same as at the end.
      isFound = true
      while high - low > 1 {
        let middle = try readable(low + (high - low) / 2, in: low..<high, version)
        guard let middle else { break }
        if try holds(middle) == last { high = middle } else { low = middle }
      }
    }
    let became = isFound ? try version.transaction(high) : nil
    return SinceDocument(
      holds: last,
      became: became.map {
        ShownHeader($0, changes: $0.changes.count, cut: ValueShowing.usualCut)
      }, changes: try became.map { try changes(of: $0, claim, version) } ?? [],
      states: probes.count, from: try store.moment(base), to: try store.moment(end),
      probes: probes,
      note: isFound
        ? "found by bisection: if it changed to and fro, this is one of the changes"
        : "the answer is the same at the base: if it changed to and fro, that is not seen",
      command: isFound
        ? command("show").adding("\(high)").text
        : command("log").options("object", parameters.all("object"))
          .options("entity", parameters.all("entity")).text)
  }

  /// The number nearest to `number` whose state is known; nil if there is none between the ends.
  private func readable(
    _ number: Int64, in range: Range<Int64>, _ version: StoreVersion
  ) throws -> Int64? {
    guard let gap = version.view.gap(at: number) else { return number }
    if gap.first - 1 > range.lowerBound { return gap.first - 1 }
    return gap.last + 1 < range.upperBound ? gap.last + 1 : nil
  }

  /// The changes of a transaction that concern what is claimed.
  private func changes(
    of transaction: Transaction, _ claim: Claim, _ version: StoreVersion
  ) throws -> [ShownChange] {
    let newest = version.snapshot.reader
    let showing = ChangeShowing(
      values: ValueShowing(cut: try cut(), newest.largeValues), newest: newest)
    let states = NamingStates(version, movingTo: transaction.number)
    return try transaction.changes.lazy.filter(claim.concerns).prefix(20).map { change in
      try showing.shown(change) { () throws(AnnalsError) in
        try states.reader(at: transaction.number)
      }
    }
  }
}

/// What is asked of each state: whether an object exists and meets a condition, or how many do.
private struct Claim {
  private var object: ObjectReference?
  private var entity: String
  private var number: EntityNumber
  private var condition: String?
  private var comparison = (word: ">", count: 0)

  private static let comparisons = [">=", "<=", "==", "!=", ">", "<", "="]

  init(_ asking: Asking, _ store: OpenedStore, asOf end: Int64) throws {
    let snapshot = try store.snapshot(at: end)
    condition = asking.parameters["where"]
    if asking.parameters["object"] != nil {
      let found = try asking.object(in: snapshot, of: store)
      object = found
      number = found.entity
      entity = snapshot.schema.entity(numbered: number)?.name ?? ""
    } else {
      entity = try asking.parameters.required("entity")
      number = try snapshot.entity(named: entity).number
      if let text = asking.parameters["count"] { try read(text) }
    }
    if let condition, let found = snapshot.schema.entity(numbered: number) {
      _ = try OptionTexts(over: found, in: snapshot)
        .condition(condition, of: "where", zone: store.zone, now: store.now)
    }
  }

  private mutating func read(_ text: String) throws {
    let text = text.filter { $0 != " " }
    let word = Claim.comparisons.first { text.hasPrefix($0) } ?? ""
    guard let count = Int(text.dropFirst(word.count)) else {
      throw RequestFault("count is >=100, ==0 or <5, not `\(text)`", .usage, parameter: "count")
    }
    comparison = (word.isEmpty ? ">=" : word, count)
  }

  func concerns(_ change: Change) -> Bool {
    if let object { return ObjectReference(change.objectID) == object }
    return change.entry.entity == number
  }

  /// Asks one state.
  func probe(_ at: Int64, in store: OpenedStore) throws -> SinceDocument.Probe {
    let snapshot = try store.snapshot(at: at)
    guard let found = snapshot.schema.entity(numbered: number), !found.isRemoved else {
      return SinceDocument.Probe(
        number: at, holds: object == nil && holds(0), count: object == nil ? 0 : nil)
    }
    var wanted = Condition.always
    if let condition {
      let texts = OptionTexts(over: found, in: snapshot)
      // A property that did not exist then has no value: no object meets the condition.
      let read = try? texts.condition(condition, of: "where", zone: store.zone, now: store.now)
      wanted = read ?? .never
    }
    guard let object else {
      let count = try snapshot.count(DynamicFetch(found.name).where(wanted))
      return SinceDocument.Probe(number: at, holds: holds(count), count: count)
    }
    guard try snapshot.reader.exists(object) else {
      return SinceDocument.Probe(number: at, holds: false)
    }
    return SinceDocument.Probe(
      number: at,
      holds: try snapshot.reader.matches(wanted, row: object.row, of: object.entity))
  }

  private func holds(_ count: Int) -> Bool {
    switch comparison.word {
    case ">=": count >= comparison.count
    case "<=": count <= comparison.count
    case "!=": count != comparison.count
    case ">": count > comparison.count
    case "<": count < comparison.count
    default: count == comparison.count
    }
  }
}
