import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import AnnalsState

extension Snapshot {
  /// The objects of the named entity of which the condition is true, in the order of the keys and
  /// then of their ids.
  ///
  /// Names are those of the schema of the time. O(objects of the entity), and with keys O(n log n)
  /// of those found. Throws `.invalidArgument` for a name that there is not, and for what cannot be
  /// compared.
  public func objects(
    of entity: String, where condition: Condition?, sortedBy keys: [SortKey] = [],
    limit: Int? = nil, offset: Int = 0
  ) throws(AnnalsError) -> [StoredObject] {
    try reader.objects(of: entity, where: condition, sortedBy: keys, limit: limit, offset: offset)
  }

  /// Of how many objects of the named entity the condition is true; throws as
  /// `objects(of:where:sortedBy:limit:offset:)` does.
  public func count(of entity: String, where condition: Condition?) throws(AnnalsError) -> Int {
    try reader.count(of: entity, where: condition)
  }
}

extension WriteTransaction {
  /// The objects of the named entity of which the condition is true, with the transaction's own
  /// changes, as `Snapshot.objects(of:where:sortedBy:limit:offset:)` gives them.
  public func objects(
    of entity: String, where condition: Condition?, sortedBy keys: [SortKey] = [],
    limit: Int? = nil, offset: Int = 0
  ) throws(AnnalsError) -> [StoredObject] {
    try mergePendingEntries()
    return try reader.objects(
      of: entity, where: condition, sortedBy: keys, limit: limit, offset: offset)
  }

  /// Of how many objects of the named entity the condition is true.
  public func count(of entity: String, where condition: Condition?) throws(AnnalsError) -> Int {
    try mergePendingEntries()
    return try reader.count(of: entity, where: condition)
  }
}

extension StateReader {
  fileprivate func objects(
    of name: String, where condition: Condition?, sortedBy keys: [SortKey], limit: Int?,
    offset: Int
  ) throws(AnnalsError) -> [StoredObject] {
    precondition(limit ?? 0 >= 0 && offset >= 0, "a limit or an offset is negative")
    let entity = try entity(named: name)
    var result: [StoredObject] = []
    for row in try rows(of: name, where: condition, sortedBy: keys, limit: limit, offset: offset) {
      if let object = try object(row, of: entity) { result.append(object) }
    }
    return result
  }

  fileprivate func rows(
    of name: String, where condition: Condition?, sortedBy keys: [SortKey] = [],
    limit: Int? = nil, offset: Int = 0
  ) throws(AnnalsError) -> [Int64] {
    try rows(
      RowQuery(
        entity: try entity(named: name).number, condition: condition ?? .always, keys: keys,
        areTiesDescending: keys.last?.isDescending ?? false, limit: limit, offset: offset))
  }

  fileprivate func count(
    of name: String, where condition: Condition?
  ) throws(AnnalsError) -> Int {
    try countAll(
      RowQuery(entity: try entity(named: name).number, condition: condition ?? .always))
  }
}
