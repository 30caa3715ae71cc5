import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import AnnalsState

extension Snapshot {
  /// The objects of the named entity that meet the condition, in the order of the keys and then of
  /// their ids.
  ///
  /// Names are those of the state's own schema. Without an index O(objects of the entity), and with
  /// keys O(n log n) of those found. Throws `.invalidArgument` for an unknown name, and for values
  /// that cannot be compared.
  public func objects(
    of entity: String, where condition: Condition?, sortedBy keys: [SortKey] = [],
    limit: Int? = nil, offset: Int = 0
  ) throws(AnnalsError) -> [StoredObject] {
    try reader.objects(of: entity, where: condition, sortedBy: keys, limit: limit, offset: offset)
  }

  /// How many objects of the named entity meet the condition; throws as
  /// `objects(of:where:sortedBy:limit:offset:)` does.
  public func count(of entity: String, where condition: Condition?) throws(AnnalsError) -> Int {
    try reader.count(of: entity, where: condition)
  }
}

extension WriteTransaction {
  /// The objects of the named entity that meet the condition, with the transaction's own changes;
  /// as `Snapshot.objects(of:where:sortedBy:limit:offset:)`.
  public func objects(
    of entity: String, where condition: Condition?, sortedBy keys: [SortKey] = [],
    limit: Int? = nil, offset: Int = 0
  ) throws(AnnalsError) -> [StoredObject] {
    try mergePendingEntries()
    return try reader.objects(
      of: entity, where: condition, sortedBy: keys, limit: limit, offset: offset)
  }

  /// How many objects of the named entity meet the condition.
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
