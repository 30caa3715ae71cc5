import Annals
import AnnalsModel
import AnnalsTestSupport

extension ModelRun {
  /// Erases an object, or some of its properties, in every state that the store still has.
  func erase() throws {
    let known = usedRows.filter { newest.schema.entity(numbered: $0.entity)?.isRemoved == false }
    guard let object = known.sorted().randomElement(using: &random),
      let entity = newest.schema.entity(numbered: object.entity)
    else { return }
    let id = ObjectID(store: RawUUID(store.id), entity: object.entity, row: object.row)
    var properties: Set<PropertyNumber>?
    let summary: ErasureSummary
    if random.chance(40) {
      steps.append("erase \(entity.name)#\(object.row)")
      summary = try store.erase(id, reason: "it was asked for", author: "eraser")
    } else {
      let names = entity.readableProperties.map(\.name).filter { _ in random.chance(30) }
      guard !names.isEmpty else { return }
      steps.append("erase \(names) of \(entity.name)#\(object.row)")
      properties = Set(names.compactMap { entity.number(of: $0) })
      summary = try store.erase(id, properties: names, reason: "it was asked for", author: "eraser")
    }
    hasErased = true
    states.append(newest)
    times.append(store.snapshot().moment)
    try demand(summary.token.number == head, "the erasure is \(summary.token), not \(head)")
    for number in base...Int(head) {
      guard let row = states[number].rows[object] else { continue }
      for property in row.keys where properties?.contains(property) ?? true {
        states[number].rows[object]?[property] = .some(.erased)
      }
    }
    if properties == nil { states[Int(head)].rows[object] = nil }
    let record = try store.history(after: head - 1).collect(limit: 1).first
    try demand(
      record?.erasure?.targets
        == [Erasure.Target(object, properties: properties.map { Array($0) } ?? [])]
        && record?.author == "eraser", "the record says \(String(describing: record?.erasure))")
    if record?.changes.contains(where: { !$0.properties.isEmpty }) == true {
      erasures.insert(Int(head))
    }
    try newest.compare(with: store.snapshot())
    if random.chance(30) { try compareHistory() }
    let findings = try store.verifyHistory().filter { $0.severity != .note }
    try demand(findings.isEmpty, "after an erasure: \(findings)")
  }
}
