import Annals
import AnnalsLog
import AnnalsModel

extension Asking {
  /// Since when a claim has held: walks back through history as far as the answer stays the same,
  /// and bisects what is too long to be walked, in O(log n) states.
  package func since() throws -> SinceDocument {
    let store = try opened()
    let version = store.version
    let end = try store.number(parameters["at"])
    let claim = try Claim(self, store, asOf: end)
    if claim.object != nil, let text = parameters["object"] {
      // Of a number that no object ever had, nothing can be said.
      let argument = try ObjectArgument(text)
      if case .row = argument { _ = try argument.findAll(inHistoryOf: store.store) }
    }
    var probes: [SinceDocument.Probe] = []
    var states = 0
    func note(_ probe: SinceDocument.Probe) {
      states += 1
      if probes.count < Asking.mostProbes { probes.append(probe) }
    }
    func ask(_ number: Int64) throws -> SinceDocument.Probe {
      try cancellation.check()
      let probe = try claim.probe(number, in: store)
      note(probe)
      return probe
    }
    let base = version.view.base
    let last = try ask(end)
    var walk = SinceWalk(
      claim: claim, store: store, cancellation: cancellation, range: base..<end, ask: ask,
      note: note, reached: end)
    try walk.run(from: last)
    var found = walk.found
    if found == nil, !walk.isWhole {
      found = try bisect(base..<walk.reached, version) { try ask($0).holds != last.holds }
    }
    let isExact = walk.found != nil || walk.isWhole
    let became = try found.map { try version.transaction($0) }
    return SinceDocument(
      holds: last.holds,
      became: became.map {
        ShownHeader($0, changes: $0.changes.count, cut: ValueShowing.usualCut)
      }, changes: try became.map { try changes(of: $0, claim, store) } ?? [],
      states: states, from: try store.moment(base), to: try store.moment(end),
      probes: probes, isExact: isExact, note: Asking.note(isFound: found != nil, isExact),
      earlier: try earlier(claim, became, store), command: sinceCommand)
  }

  /// The objects that had the key before the object that is asked about, if it was not there before
  /// the answer: an answer about a key says nothing of them.
  private func earlier(
    _ claim: Claim, _ became: Transaction?, _ store: OpenedStore
  ) throws -> [String]? {
    guard let object = claim.object, let text = parameters["object"],
      case .key = try ObjectArgument(text),
      became?.changes.contains(where: { claim.concerns($0) && $0.kind == .update }) != true
    else { return nil }
    let others = try ObjectArgument(text).findAll(inHistoryOf: store.store)
      .filter { $0 != object && $0.row < object.row }
    return others.isEmpty ? nil : others.prefix(5).map { "\(claim.entity)#\($0.row)" }
  }

  /// The command that asks the same.
  private var sinceCommand: String {
    var words = command("since")
    if let object = parameters["object"] {
      words = words.adding(object)
    } else {
      words = words.option("entity", parameters["entity"])
    }
    for name in ["where", "count", "at"] { words = words.option(name, parameters[name]) }
    return words.text
  }

  /// As many of the states that were asked are told.
  private static let mostProbes = 100

  private static func note(isFound: Bool, _ isExact: Bool) -> String {
    switch (isFound, isExact) {
    case (true, true): "the last change after which it stayed so"
    case (false, true): "all that can have changed it was looked at"
    case (true, false):
      "found by bisection: if it changed to and fro, this is one of the changes"
    case (false, false):
      "the answer is the same at the base: if it changed to and fro, that is not seen"
    }
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
    of transaction: Transaction, _ claim: Claim, _ store: OpenedStore
  ) throws -> [ShownChange] {
    let showing = changeShowing(of: store, cut: try cut())
    let states = NamingStates(store.version, movingTo: transaction.number)
    let deciding = transaction.changes.filter {
      claim.isOfOwnValues ? claim.mayDecide($0) : claim.concerns($0)
    }
    return try deciding.prefix(20).map { try showing.shown($0, states) }
  }
}
