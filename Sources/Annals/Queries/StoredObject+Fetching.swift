import AnnalsEngine
import AnnalsModel

extension ObjectSource {
  /// The objects of the named entity that meet the condition, in the order of the keys and then of
  /// their ids.
  ///
  /// Names are those of the state's own schema. Without an index O(objects of the entity), and with
  /// keys O(n log n) of those found. Throws `.invalidArgument` for an unknown name, and for values
  /// that cannot be compared.
  public func objects(
    of entity: String, where condition: Condition? = nil, sortedBy keys: [SortKey] = [],
    limit: Int? = nil, offset: Int = 0
  ) throws(AnnalsError) -> [StoredObject] {
    try fetch(ObjectFetch(entity, where: condition, sortedBy: keys, limit, offset))
  }

  /// How many objects of the named entity meet the condition; throws as
  /// `objects(of:where:sortedBy:limit:offset:)` does.
  public func count(of entity: String, where condition: Condition?) throws(AnnalsError) -> Int {
    try count(ObjectFetch(entity).where(condition))
  }
}
