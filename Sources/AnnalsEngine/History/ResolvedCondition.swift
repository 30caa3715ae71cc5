import AnnalsModel

/// A condition whose names are resolved to the numbers in records, so that testing a change
/// compares integers.
///
/// A name that the store does not know (yet) becomes `never`. Resolve it again with a newer
/// glossary when more transactions arrive.
package struct ResolvedCondition: Sendable {
  package indirect enum Node: Sendable {
    case constant(Bool)
    case author(NameNumber)
    case context(NameNumber)
    case dated(ClosedRange<Timestamp>)
    case kind(ChangeKind)
    case entities([EntityNumber])
    case object(ObjectReference)
    case objects(Set<ObjectReference>)
    case properties([ResolvedProperty])
    case not(Node)
    case and(Node, Node)
    case or(Node, Node)
  }

  /// One property of one entity.
  package struct ResolvedProperty: Sendable, Hashable {
    package var entity: EntityNumber
    package var property: PropertyNumber
  }

  package let node: Node
  /// Whether a term is about changes, so that transactions without changes do not match.
  package let concernsChanges: Bool

  /// Resolves a condition to the glossary's numbers.
  package init(_ condition: HistoryCondition, in glossary: Glossary) {
    node = ResolvedCondition.resolve(condition.node, in: glossary)
    concernsChanges = ResolvedCondition.concernsChanges(condition.node)
  }

  /// Whether the change at `index` of the batch, in the given transaction, matches.
  package func selects(change index: Int, of transaction: Int, in batch: ChangeBatch) -> Bool {
    ResolvedCondition.holds(node, batch: batch, transaction: transaction, change: index)
  }

  /// Whether the transaction matches regardless of its changes.
  package func selects(transaction: Int, in batch: ChangeBatch) -> Bool {
    ResolvedCondition.holds(node, batch: batch, transaction: transaction, change: nil)
  }

  /// Whether the transaction, or one of its changes in this batch, matches.
  package func matches(transaction: Int, in batch: ChangeBatch) -> Bool {
    // A gap always matches, so that missing history is never overlooked.
    if batch.transactions[transaction].lost != nil { return true }
    guard concernsChanges else { return selects(transaction: transaction, in: batch) }
    return batch.transactions[transaction].changeRange.contains {
      selects(change: $0, of: transaction, in: batch)
    }
  }
}

extension ResolvedCondition {
  private static func holds(
    _ node: Node, batch: ChangeBatch, transaction: Int, change: Int?
  ) -> Bool {
    switch node {
    case .constant(let value): return value
    case .author(let name): return batch.transactions[transaction].author == name
    case .context(let name): return batch.transactions[transaction].context == name
    case .dated(let range): return range.contains(batch.transactions[transaction].timestamp)
    case .not(let inner):
      return !holds(inner, batch: batch, transaction: transaction, change: change)
    case .and(let a, let b):
      return holds(a, batch: batch, transaction: transaction, change: change)
        && holds(b, batch: batch, transaction: transaction, change: change)
    case .or(let a, let b):
      return holds(a, batch: batch, transaction: transaction, change: change)
        || holds(b, batch: batch, transaction: transaction, change: change)
    case .kind, .entities, .object, .objects, .properties:
      guard let change else { return false }
      return holds(node, of: batch.changes[change], in: batch)
    }
  }

  private static func holds(_ node: Node, of entry: ChangeEntry, in batch: ChangeBatch) -> Bool {
    switch node {
    case .kind(let kind): return entry.kind == kind
    case .entities(let numbers): return numbers.contains(entry.entity)
    case .object(let object): return entry.entity == object.entity && entry.row == object.row
    case .objects(let objects):
      return objects.contains(ObjectReference(entity: entry.entity, row: entry.row))
    case .properties(let wanted):
      guard wanted.contains(where: { $0.entity == entry.entity }) else { return false }
      return entry.propertyRange.contains { position in
        let number = batch.properties[position].property
        return wanted.contains { $0.entity == entry.entity && $0.property == number }
      }
    default: return false
    }
  }

  private static func concernsChanges(_ node: HistoryCondition.Node) -> Bool {
    switch node {
    case .always, .author, .context, .since, .until, .dated, .noDate: false
    case .kind, .entity, .objects, .property, .propertyName: true
    case .not(let inner): concernsChanges(inner)
    case .and(let a, let b), .or(let a, let b): concernsChanges(a) || concernsChanges(b)
    }
  }

  private static func resolve(_ node: HistoryCondition.Node, in glossary: Glossary) -> Node {
    switch node {
    case .always: return .constant(true)
    case .author(let name): return resolve(name, in: glossary).map(Node.author) ?? .constant(false)
    case .context(let name):
      return resolve(name, in: glossary).map(Node.context) ?? .constant(false)
    case .dated(let range): return .dated(range)
    // Without `counting`, all timestamps count.
    case .since(let moment): return .dated(moment...(.max))
    case .until(let moment): return .dated(.min...moment)
    case .noDate: return .constant(false)
    case .kind(let kind): return .kind(kind)
    case .entity(let name): return .entities(entities(named: name, in: glossary))
    case .objects(let ids):
      let objects = Set(ids.map { ObjectReference(entity: $0.entity, row: $0.row) })
      guard let first = objects.first else { return .constant(false) }
      return objects.count == 1 ? .object(first) : .objects(objects)
    case .property(let entity, let name):
      let numbers = entities(named: entity, in: glossary)
      return .properties(properties(named: name, in: glossary) { numbers.contains($0) })
    case .propertyName(let name):
      return .properties(properties(named: name, in: glossary) { _ in true })
    case .not(let inner): return .not(resolve(inner, in: glossary))
    case .and(let a, let b): return .and(resolve(a, in: glossary), resolve(b, in: glossary))
    case .or(let a, let b): return .or(resolve(a, in: glossary), resolve(b, in: glossary))
    }
  }

  private static func resolve(_ name: String?, in glossary: Glossary) -> NameNumber? {
    guard let name else { return 0 }
    let index = glossary.nameTable.firstIndex { $0.hasSameBytes(as: name) }
    return index.map { NameNumber($0 + 1) }
  }

  /// The entities with this name now; if there are none, those that ever had it.
  private static func entities(named name: String, in glossary: Glossary) -> [EntityNumber] {
    if let entity = glossary.schema.entity(named: name) { return [entity.number] }
    return glossary.schemas.entities(everNamed: name).sorted()
  }

  /// The properties with this name in the wanted entities, now or at any time.
  private static func properties(
    named name: String, in glossary: Glossary, of wanted: (EntityNumber) -> Bool
  ) -> [ResolvedProperty] {
    let found = glossary.schemas.properties(everNamed: name, of: wanted).map {
      ResolvedProperty(entity: $0.entity, property: $0.property)
    }
    return Array(Set(found))
  }
}
