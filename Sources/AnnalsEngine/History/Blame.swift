import AnnalsLog
import AnnalsModel
import AnnalsState

/// Who last set one property of an object, and to what.
public struct BlameLine: Sendable {
  /// The property's name at the position asked for.
  public let property: String
  /// The property's value at that position; null if it was cleared. A reference to an object that
  /// was deleted since, and that its delete rule keeps, is what was set.
  public let value: Value
  /// The transaction that set or cleared it; nil if that was pruned, or if the value is a default
  /// that no transaction wrote.
  public let transaction: Transaction?
}

/// Who last set each property of an object. Its lines are ordered by property number.
public struct Blame: Sendable, RandomAccessCollection {
  /// The transaction that deleted the object; nil if it existed at the position asked for. The
  /// lines of a deleted object are those from just before its deletion.
  public let deletion: Transaction?
  private let lines: [BlameLine]

  fileprivate init(_ lines: [BlameLine], deletion: Transaction?) {
    self.lines = lines
    self.deletion = deletion
  }

  /// 0.
  public var startIndex: Int { 0 }

  /// The number of lines.
  public var endIndex: Int { lines.count }

  /// The line at this position. O(1).
  public subscript(position: Int) -> BlameLine { lines[position] }
}

extension BlameLine: CustomStringConvertible {
  /// Property, value and transaction: `title: string("Fog"), set by transaction 5  …`; `title:
  /// cleared by transaction 6  …`.
  public var description: String {
    if value.isNull, let transaction { return "\(property): cleared by \(transaction)" }
    return "\(property): \(value)"
      + (transaction.map { ", set by \($0)" } ?? ", set by an unknown transaction")
  }
}

extension StoreVersion {
  /// Who last set or cleared each property of an object, as of a transaction. As `Store.blame`;
  /// without `readingLargeValues`, these are references.
  package func blame(
    _ object: ObjectID, at number: Int64, readingLargeValues: Bool = true
  ) throws(AnnalsError) -> Blame {
    try object.requireOwn(store)
    let reader = try reader(
      at: number, withOnly: [ObjectReference(entity: object.entity, row: object.row)])
    let wanted = History(
      version: self, after: view.base, through: number, condition: .touches(object)
    ).reversed()
    var walk = BlameWalk(object, in: reader.state.schema)
    if let stored = try reader.object(object, readingLargeValues: false, keepsGone: true) {
      walk.values = stored.values
      walk.isFound = true
    }
    var cursor = try wanted.makeCursor()
    while !walk.isOver, let transaction = try cursor.next() { walk.apply(transaction) }
    guard walk.isFound else { throw .objectNotFound(object, in: reader.state.schema, of: store) }
    let lines = try walk.lines(readingLargeValues ? LogLargeValues(view) : nil)
    return Blame(lines, deletion: walk.deletion)
  }
}

/// A walk backward through the history of one object.
private struct BlameWalk {
  let object: ObjectID
  private let entity: Entity?
  /// The object's values at the position asked for.
  var values: [(property: PropertyNumber, value: Value)] = []
  /// Whether those values are known.
  var isFound = false
  private(set) var deletion: Transaction?
  /// The properties whose last transaction is not found yet.
  private var open: Set<PropertyNumber>
  private var found: [PropertyNumber: (transaction: Transaction, isCleared: Bool)] = [:]
  private var isAtInsertion = false

  init(_ object: ObjectID, in schema: Schema) {
    self.object = object
    entity = schema.entity(numbered: object.entity)
    // Removed ones, too: their removal cleared them.
    open = Set(entity?.readableProperties.map(\.number) ?? [])
      .union(entity?.removedProperties ?? [])
  }

  /// Whether earlier transactions have nothing to add.
  var isOver: Bool { isAtInsertion || isFound && open.isEmpty }

  /// Applies the next older transaction.
  mutating func apply(_ transaction: Transaction) {
    for change in transaction.changes where change.objectID == object {
      if change.kind == .delete {
        // If the object exists, an earlier deletion precedes its revival and ends the walk.
        guard !isFound else { return isAtInsertion = true }
        isFound = true
        deletion = transaction
        values = change.properties.compactMap { property in
          guard open.contains(property.number), !property.before.isNull,
            entity?.isRemoved(property.number) != true
          else { return nil }
          return (property.number, property.before)
        }
        continue
      }
      for property in change.properties where open.remove(property.number) != nil {
        let isCleared = property.edits == nil ? property.after.isNull : true
        found[property.number] = (transaction, isCleared)
      }
      if change.kind == .insert { isAtInsertion = true }
    }
  }

  /// Whether the property was removed and another one has its name now.
  private func isReplaced(_ number: PropertyNumber) -> Bool {
    guard let entity, entity.isRemoved(number), let name = entity.propertyName(number) else {
      return false
    }
    return entity.propertyNumber(named: name) != nil
  }

  /// The lines, with the bytes of large values if there is a source of them.
  func lines(_ largeValues: (any LargeValueSource)?) throws(AnnalsError) -> [BlameLine] {
    var lines: [(number: PropertyNumber, line: BlameLine)] = []
    func add(_ number: PropertyNumber, _ value: Value) {
      let name = entity?.propertyName(number) ?? "#\(number)"
      lines.append(
        (number, BlameLine(property: name, value: value, transaction: found[number]?.transaction)))
    }
    for (number, value) in values {
      guard case .large(let large) = value, let bytes = try largeValues?.bytesLeft(of: large) else {
        add(number, value)
        continue
      }
      add(number, Value(bytes: bytes, tag: large.tag))
    }
    for (number, last) in found where last.isCleared {
      if !values.contains(where: { $0.property == number }), !isReplaced(number) {
        add(number, .null)
      }
    }
    return lines.sorted { $0.number < $1.number }.map(\.line)
  }
}
