import Annals
import AnnalsLog
import AnnalsModel
import AnnalsState

extension Asking {
  /// The versions of one object, newest first.
  package func life() throws -> LifeDocument {
    let store = try opened()
    let version = store.version
    let newest = version.snapshot
    let reference = try object(in: newest, of: store)
    let base = version.view.base
    let before = max(try parameters.number("before") ?? .max, base + 1)
    let upper = min(before - 1, version.token.number)
    let history = History(
      version: version, after: base, through: upper,
      condition: .touches(reference.id(in: newest))
    ).reversed()
    let limit = max(1, try limit(100))
    let page = try HistoryPage(
      HistoryPage.Search(history: history, limit: limit, changes: 1), for: WorkTime(patience),
      cancellation)
    let cut = try cut(2_000)
    let showing = changeShowing(of: store, cut: cut)
    let states = NamingStates(
      version, movingTo: page.entries.last?.transaction.number ?? version.token.number)
    var versions = try page.entries.map { entry in
      try cancellation.check()
      return LifeDocument.Version(
        header: ShownHeader(entry.transaction, changes: entry.total, cut: cut),
        change: try entry.changes.first.map { try showing.shown($0, states) })
    }
    let isAtBase = !page.hasMore && base > 0 && page.entries.last?.changes.first?.kind != .insert
    if isAtBase, let us = (try? store.moment(base))?.us {
      let time = ShownTime(Timestamp(microseconds: us))
      let header = ShownHeader(number: base, timestamp: time, us: us, changes: 0)
      versions.append(LifeDocument.Version(header: header, change: nil, base: true))
    }
    return LifeDocument(
      object: try shown(reference, in: newest, of: store), versions: versions,
      older: page.hasMore ? page.reached : nil, progress: page.isPartial ? 0.5 : 1,
      command: command("show").adding(try parameters.required("object")).text)
  }

  /// Two versions of an object, compared.
  package func version() throws -> VersionDocument {
    let store = try opened()
    let numbers = (
      try store.number(try parameters.required("from"), parameter: "from"),
      try store.number(parameters["to"], parameter: "to")
    )
    let (old, new) = (try store.snapshot(at: numbers.0), try store.snapshot(at: numbers.1))
    let reference = try object(in: new, of: store)
    let entity =
      new.schema.entity(numbered: reference.entity) ?? old.schema.entity(numbered: reference.entity)
    let exists = (try old.reader.exists(reference), try new.reader.exists(reference))
    let values = self.values(
      of: store, cut: try cut(ValueShowing.longestCut), new.reader.largeValues)
    var differences: [ShownDifference] = []
    for property in entity?.readableProperties ?? [] where exists.0 || exists.1 {
      let before = try old.reader.state.valueIfKnown(reference, property.number)
      let after = try new.reader.state.valueIfKnown(reference, property.number)
      if before == after { continue }
      differences.append(
        try values.shown(
          property.name, exists.0 ? (before, old.reader) : nil,
          exists.1 ? (after, new.reader) : nil))
    }
    let object = try shown(reference, in: exists.1 ? new : old, of: store)
    let kind = exists.0 == exists.1 ? ChangeKind.update : exists.1 ? .insert : .delete
    let isSame = differences.isEmpty && exists.0 == exists.1
    return VersionDocument(
      object: object, from: try store.moment(numbers.0), to: try store.moment(numbers.1),
      change: isSame
        ? nil
        : ShownChange(
          kind: "\(kind)", object: object, label: object.label, properties: differences),
      command: command("diff").adding("\(numbers.0)", "\(numbers.1)")
        .option("object", parameters["object"]).text)
  }
}

extension State {
  /// The value of a property; null if the object does not exist.
  fileprivate func valueIfKnown(
    _ object: ObjectReference, _ property: PropertyNumber
  ) throws -> Value {
    try AnnalsError.translating {
      try contains(object.entity, object.row)
        ? value(object.entity, object.row, property) : .null
    }
  }
}
