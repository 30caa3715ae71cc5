import Annals

extension ShownHeader {
  /// A transaction without its changes; `count` is how many it has.
  package init(
    _ transaction: Transaction, changes count: Int, cut: Int, listed: Int = ShowingLimits().listed
  ) {
    let record = transaction.page.batch.transactions[transaction.index]
    self.init(
      number: transaction.number, timestamp: ShownTime(transaction.moment),
      us: transaction.moment.microseconds, changes: count)
    author = transaction.author
    context = transaction.context
    if let opening = transaction.page.glossary.opening(record.opening) {
      if !opening.processName.isEmpty { process = opening.processName }
      if opening.processID != 0 { pid = opening.processID }
    }
    message = transaction.message?.clipped(to: cut)
    let undo = transaction.undo
    group = undo.group
    switch undo.act {
    case .undoes(let numbers): undoes = [numbers.lowerBound, numbers.upperBound]
    case .redoes(let number): redoes = number
    case nil: break
    }
    let migrations = transaction.migrations
    if !migrations.isEmpty { self.migrations = migrations }
    if let lost = record.lost {
      self.lost = "\(lost)"
      lostReason = lost.reason
      loss = ShownLoss(
        afterUs: lost.after.microseconds > 0 ? lost.after.microseconds : nil,
        beforeUs: lost.before?.microseconds, salvagedUs: lost.salvaged.microseconds,
        isExact: lost.isExact)
    }
    let entities = transaction.changedEntityNames
    if !entities.isEmpty { schema = Array(entities.prefix(listed)) }
    if let erasure = transaction.erasure {
      erasedBecause = erasure.reason
      erased = erasure.targets.prefix(listed).map { target in
        let entity = transaction.schema.entity(numbered: target.object.entity)
        let name = "\(entity?.name ?? "#\(target.object.entity)")#\(target.object.row)"
        let properties = target.properties.map { entity?.propertyName($0) ?? "#\($0)" }
        return properties.isEmpty ? name : "\(name): \(properties.joined(separator: ", "))"
      }
    }
  }
}

extension Transaction {
  /// The message of whoever made the change; nil for none, and for one that is empty.
  package var message: String? {
    for entry in page.batch.transactions[index].metadata where entry.key == "message" {
      if case .string(let text) = entry.value, !text.isEmpty { return text }
    }
    return nil
  }
}
