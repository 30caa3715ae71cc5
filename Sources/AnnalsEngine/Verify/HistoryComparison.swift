import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

/// Whether two files of one store, replicas or copies, have the same history and states, as far as
/// both have it.
///
/// The state before the first common transaction, and each transaction from there on, are compared,
/// so that the states at every common number are the same; the last one is compared, too. What is a
/// file's own, such as consumers and how it is divided into frames, makes no difference.
package struct HistoryComparison {
  /// Where the files differ; nothing, or notes only, if they do not.
  package private(set) var findings: [StoreFinding] = []
  /// The numbers at which both files have a state; nil if there are none.
  package private(set) var numbers: ClosedRange<Int64>?

  /// What the two files are called in messages.
  private let names: (a: String, b: String)
  /// The first transaction of which one file has values that the other one has erased, and how
  /// many there are.
  private var erased: (first: Int64, inA: Bool, count: Int)?
  /// What makes the last states incomparable, or different in any case.
  private var isParted = false

  /// Compares the histories of two files. Reads both from the first common transaction on; memory:
  /// a state of each, if one was pruned or does not hold its values.
  ///
  /// Throws if a file cannot be read.
  package init(
    _ a: StoreVersion, _ b: StoreVersion, named names: (a: String, b: String)
  ) throws(AnnalsError) {
    self.names = names
    guard a.store == b.store else {
      report(.error, "\(names.a) is of store \(a.store), and \(names.b) of store \(b.store)")
      return
    }
    let start = max(a.base.number, b.base.number)
    let end = min(a.head.number, b.head.number)
    guard start <= end else {
      let (later, earlier) = a.base.number > b.base.number ? names : (names.b, names.a)
      report(
        .warning,
        "\(later) begins after transaction \(start), and \(earlier) ends with \(end): they have "
          + "nothing in common that could be compared")
      return
    }
    numbers = start...end
    try AnnalsError.translating {
      try compareStates(a, b, at: start)
      if isParted { return }
      var sides = (
        a: try HistorySide(a, after: start, through: end),
        b: try HistorySide(b, after: start, through: end)
      )
      try compare(&sides.a, &sides.b)
      reportErased()
      if !isParted, end > start { try compareStates(a, b, at: end) }
    }
    reportLengths(a, b)
  }

  // MARK: States

  private mutating func compareStates(
    _ a: StoreVersion, _ b: StoreVersion, at number: Int64
  ) throws {
    if number == 0 { return }
    let (first, second) = (try a.state(at: number), try b.state(at: number))
    guard let mismatch = try State.firstDifference(first, second, areOfOneFile: false) else {
      return
    }
    isParted = true
    let text: String
    switch mismatch {
    case .object(let entity, let row, let isInFirst):
      let name = HistoryComparison.name(entity, row, in: isInFirst ? first : second)
      let (has, lacks) = isInFirst ? names : (names.b, names.a)
      text = "\(name) is in \(has), and not in \(lacks)"
    case .value(let entity, let row, let property):
      let name = HistoryComparison.name(entity, row, in: first)
      let known = first.schema.entity(numbered: entity)?.propertyName(property)
      let values = (
        try first.value(entity, row, property), try second.value(entity, row, property)
      )
      text = "\(known ?? "property \(property)") of \(name) \(said(values.0, values.1))"
    }
    report(.error, "the states at transaction \(number) differ: \(text)")
  }

  private static func name(_ entity: EntityNumber, _ row: Int64, in state: State) -> String {
    "\(state.schema.entity(numbered: entity)?.name ?? "entity \(entity)")#\(row)"
  }

  // MARK: Transactions

  /// Compares the transactions of two histories up to the first that differs.
  private mutating func compare(_ a: inout HistorySide, _ b: inout HistorySide) throws {
    while true {
      let (hasA, hasB) = (try a.advance(), try b.advance())
      guard hasA, hasB else { return }
      if a.record.lost != nil || b.record.lost != nil {
        guard try pass(&a, &b) else { return }
        continue
      }
      var text = difference(a, b)
      if text == nil { text = try changeDifference(&a, &b) }
      guard let text else { continue }
      isParted = true
      let number = a.record.number
      report(
        .error,
        "transaction \(number) differs: \(text). Up to transaction \(number - 1) the files are the "
          + "same")
      return
    }
  }

  /// Passes what was lost in a file. Returns false if nothing is left.
  private mutating func pass(_ a: inout HistorySide, _ b: inout HistorySide) throws -> Bool {
    isParted = true
    for (side, name) in [(a, names.a), (b, names.b)] {
      guard let lost = side.record.lost else { continue }
      report(
        .warning,
        "\(name) has lost the transactions \(lost.numbers.lowerBound) to "
          + "\(lost.numbers.upperBound), which were not compared, nor was the state at the end")
    }
    while a.record.number != b.record.number {
      let last = max(a.record.number, b.record.number)
      guard try a.advance(to: last), try b.advance(to: last) else { return false }
    }
    return true
  }

  /// What two transactions say otherwise, besides their changes; nil if it is the same.
  private func difference(_ a: HistorySide, _ b: HistorySide) -> String? {
    let (x, y) = (a.record, b.record)
    if x.number != y.number { return "\(names.b) has transaction \(y.number) in its place" }
    if x.timestamp != y.timestamp { return "its date \(said("\(x.timestamp)", "\(y.timestamp)"))" }
    for (what, p, q) in [("author", x.author, y.author), ("context", x.context, y.context)] {
      let (p, q) = (a.version.view.name(p), b.version.view.name(q))
      if p != q { return "its \(what) \(said(p ?? "none", q ?? "none"))" }
    }
    if a.version.view.opening(x.opening)?.id != b.version.view.opening(y.opening)?.id {
      return "it was written by another opening of the store"
    }
    if x.isPlain, y.isPlain { return nil }
    if x.metadata != y.metadata { return "its metadata" }
    if x.schemaChange != y.schemaChange { return "its changes of the schema" }
    if x.extensions != y.extensions {
      let places = (SharedLogPlace.place(of: x), SharedLogPlace.place(of: y))
      return places.0 == places.1
        ? "what belongs to it besides its changes" : "its place in the shared log, or its digest"
    }
    return nil
  }

  /// How the changes of two transactions differ; nil if they do not, or only by what was erased.
  private mutating func changeDifference(
    _ a: inout HistorySide, _ b: inout HistorySide
  ) throws -> String? {
    while true {
      let (first, second) = (try a.nextChange(), try b.nextChange())
      guard let x = first, let y = second else {
        if first == nil, second == nil { return nil }
        return "\(first == nil ? names.b : names.a) has more changes in it"
      }
      guard x.kind == y.kind, x.entity == y.entity, x.row == y.row else {
        return "a change \(said(text(x, a), text(y, b)))"
      }
      guard x.propertyCount == y.propertyCount else {
        return "the properties of \(text(x, a))"
      }
      for (p, q) in zip(x.propertyRange, y.propertyRange) {
        if let text = propertyDifference(a.batch.properties[p], b.batch.properties[q], x, a, b) {
          return text
        }
      }
    }
  }

  private mutating func propertyDifference(
    _ p: PropertyChange, _ q: PropertyChange, _ change: ChangeEntry, _ a: HistorySide,
    _ b: HistorySide
  ) -> String? {
    guard p.property == q.property, p.isEdits == q.isEdits else {
      return "the properties of \(text(change, a))"
    }
    return a.batch.arena.withUnsafeBytes { first in
      b.batch.arena.withUnsafeBytes { second in
        for (x, y) in [(p.before, q.before), (p.after, q.after)] {
          if ValueCell.areEqual(x, in: first, y, in: second) { continue }
          if !p.isEdits, x.isLarge, y.isLarge, x.value(in: first) == y.value(in: second) {
            continue
          }
          if (x.tag == .erased) != (y.tag == .erased) {
            noteErased(a.record.number, inA: x.tag == .erased)
            continue
          }
          let entity = a.version.view.schema(at: a.record.number).entity(numbered: change.entity)
          let name = entity?.propertyName(p.property) ?? "property \(p.property)"
          let values =
            p.isEdits ? "differs" : said(x.value(in: first), y.value(in: second))
          return "\(name) of \(text(change, a)) \(values)"
        }
        return nil
      }
    }
  }

  private func text(_ change: ChangeEntry, _ side: HistorySide) -> String {
    let entity = side.version.view.schema(at: side.record.number).entity(numbered: change.entity)
    return "\(change.kind) \(entity?.name ?? "entity \(change.entity)")#\(change.row)"
  }

  // MARK: Messages

  private mutating func noteErased(_ number: Int64, inA: Bool) {
    var noted = erased ?? (number, inA, 0)
    noted.count += 1
    erased = noted
  }

  private mutating func reportErased() {
    guard let erased else { return }
    isParted = true
    let (without, with) = erased.inA ? names : (names.b, names.a)
    let others = erased.count > 1 ? ", the first of \(erased.count)" : ""
    report(
      .warning,
      "\(with) has a value in transaction \(erased.first) that \(without) has erased\(others)")
  }

  private mutating func reportLengths(_ a: StoreVersion, _ b: StoreVersion) {
    let (x, y) = (a.head.number, b.head.number)
    if x == y || isParted { return }
    let (longer, shorter) = x > y ? names : (names.b, names.a)
    report(
      .note,
      "\(longer) goes on to transaction \(max(x, y)), \(shorter) ends with \(min(x, y))")
  }

  private mutating func report(_ severity: StoreFinding.Severity, _ message: String) {
    findings.append(StoreFinding(severity: severity, message: message))
  }

  private func said(_ x: Value, _ y: Value) -> String {
    said(HistoryComparison.cut(x), HistoryComparison.cut(y))
  }

  private func said(_ x: String, _ y: String) -> String {
    "is \(x) in \(names.a), and \(y) in \(names.b)"
  }

  /// A value's text, not too long.
  private static func cut(_ value: Value) -> String {
    if case .null = value { return "null" }
    let text = value.plainText
    return text.count > 60 ? "\(text.prefix(60))…" : text
  }
}
