import Annals
import AnnalsLog
import AnnalsModel

extension Asking {
  /// Since when a condition has held. Of one object's own properties: each version of it is looked
  /// at, the newest first, as far as the answer stays the same. Of a count, or of what the object
  /// refers to: a bisection of history, in O(log n) states.
  package func since() throws -> SinceDocument {
    let store = try opened()
    let version = store.version
    let end = try store.number(parameters["at"])
    let claim = try Claim(self, store, asOf: end)
    var probes: [SinceDocument.Probe] = []
    func holds(_ number: Int64) throws -> Bool {
      try cancellation.check()
      let probe = try claim.probe(number, in: store)
      if probes.count < Asking.mostProbes { probes.append(probe) }
      return probe.holds
    }
    let base = version.view.base
    let last = try holds(end)
    var states = 1
    func differs(_ number: Int64) throws -> Bool {
      states += 1
      return try holds(number) != last
    }
    var found: Int64?
    var isExact = false
    if claim.isOfVersions {
      found = try newestVersion(claim, in: base..<end, version, differs)
      // What has changed otherwise is not of the object: a property that the schema did not have.
      isExact = try found != nil || end == base || !differs(base)
    }
    if !isExact { found = try bisect(base..<end, version, differs) }
    let became = try found.map { try version.transaction($0) }
    return SinceDocument(
      holds: last,
      became: became.map {
        ShownHeader($0, changes: $0.changes.count, cut: ValueShowing.usualCut)
      }, changes: try became.map { try changes(of: $0, claim, version) } ?? [],
      states: states, from: try store.moment(base), to: try store.moment(end),
      probes: probes, note: Asking.note(isFound: found != nil, isExact),
      command: found.map { command("show").adding("\($0)").text }
        ?? command("log").options("object", parameters.all("object"))
        .options("entity", parameters.all("entity")).text)
  }

  /// As many of the states that were asked are told.
  private static let mostProbes = 100

  private static func note(isFound: Bool, _ isExact: Bool) -> String {
    switch (isFound, isExact) {
    case (true, true): "the last change of the object that led to what is so now"
    case (false, true): "each version of the object was looked at"
    case (true, false):
      "found by bisection: if it changed to and fro, this is one of the changes"
    case (false, false):
      "the answer is the same at the base: if it changed to and fro, that is not seen"
    }
  }

  /// The newest of an object's versions before which the answer was another one; nil if there is
  /// none.
  private func newestVersion(
    _ claim: Claim, in range: Range<Int64>, _ version: StoreVersion,
    _ differs: (Int64) throws -> Bool
  ) throws -> Int64? {
    guard let object = claim.object, !range.isEmpty else { return nil }
    let history = History(
      version: version, after: range.lowerBound, through: range.upperBound,
      condition: .touches(object.id(in: version.snapshot)))
    var cursor = try history.reversed().makeCursor()
    while let transaction = try cursor.next() {
      try cancellation.check()
      guard transaction.changes.contains(where: claim.mayDecide) else { continue }
      let before = try readable(
        transaction.number - 1, in: range.lowerBound..<transaction.number, version)
      if let before, try differs(before) { return transaction.number }
    }
    return nil
  }

  /// A transaction with which the answer became what it is at the end, if it is another one at the
  /// beginning.
  private func bisect(
    _ range: Range<Int64>, _ version: StoreVersion, _ differs: (Int64) throws -> Bool
  ) throws -> Int64? {
    guard !range.isEmpty, try differs(range.lowerBound) else { return nil }
    var (low, high) = (range.lowerBound, range.upperBound)
    while high - low > 1 {
      let middle = try readable(low + (high - low) / 2, in: low..<high, version)
      guard let middle else { break }
      if try differs(middle) { low = middle } else { high = middle }
    }
    return high
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
  private(set) var object: ObjectReference?
  private var entity: String
  private var number: EntityNumber
  private var condition: String?
  private var comparison = (word: ">", count: 0)

  private static let comparisons = [">=", "<=", "==", "!=", ">", "<", "="]

  /// The properties of the object that the condition looks at; nil if it looks further.
  private var properties: Set<PropertyNumber>? = []

  /// Whether the versions of one object alone decide.
  var isOfVersions: Bool { object != nil && properties != nil }

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
      let read = try OptionTexts(over: found, in: snapshot)
        .condition(condition, of: "where", zone: store.zone, now: store.now)
      let numbers = read.dependencies.map { dependency in
        dependency.path.names.count == 1
          ? dependency.path.names.first.flatMap { found.propertyNumber(named: $0) } : nil
      }
      properties = numbers.contains(nil) ? nil : Set(numbers.compactMap { $0 })
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

  /// Whether a change of the object can be one with which the answer changes.
  func mayDecide(_ change: Change) -> Bool {
    guard concerns(change) else { return false }
    guard change.kind == .update, let properties else { return true }
    return change.properties.contains { properties.contains($0.number) }
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
