import Annals

extension ShownHeader {
  /// A transaction without its changes; `count` is how many it has.
  package init(_ transaction: Transaction, changes count: Int, cut: Int) {
    let record = transaction.page.batch.transactions[transaction.index]
    self.init(
      number: transaction.number, timestamp: transaction.moment.description,
      us: transaction.moment.microseconds, changes: count)
    author = transaction.author
    context = transaction.context
    process = transaction.processName
    pid = transaction.processID
    message = transaction.message?.clipped(to: cut)
    group = transaction.group
    undoes = transaction.undoes.map { [$0.lowerBound, $0.upperBound] }
    redoes = transaction.redoes
    let migrations = transaction.migrations
    if !migrations.isEmpty { self.migrations = migrations }
    if let lost = record.lost {
      self.lost = "\(lost)"
      lostReason = lost.reason
    }
    let entities = transaction.changedEntityNames
    if !entities.isEmpty { schema = Array(entities.prefix(ShownHeader.mostListed)) }
    if let erasure = transaction.erasure {
      erased = erasure.targets.prefix(ShownHeader.mostListed).map { target in
        let entity = transaction.schema.entity(numbered: target.object.entity)
        let name = "\(entity?.name ?? "#\(target.object.entity)")#\(target.object.row)"
        let properties = target.properties.map { entity?.propertyName($0) ?? "#\($0)" }
        return properties.isEmpty ? name : "\(name): \(properties.joined(separator: ", "))"
      }
    }
  }

  private static let mostListed = 50
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
