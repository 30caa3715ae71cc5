import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import AnnalsState

/// An index as a state has it.
public struct IndexStatus: Hashable, Sendable {
  /// The index's name; that of the attribute where a unique one is meant.
  public let name: String
  /// The attributes, each with its direction.
  public let keys: [SortKey]
  /// What is true of all objects in a partial index; nil for an index of all.
  public let condition: Condition?
  /// Whether no two objects have the same values.
  public let isUnique: Bool
  /// Whether it is a box index: of ranges of all its attributes at once, in no order.
  public let isBox: Bool
  /// How many objects it has: all, but of a unique index and of a box index only those with a value
  /// for each key.
  public let entryCount: Int
  /// Whether it was there before it was asked for; else it is built when it is first used.
  public let isBuilt: Bool
}

extension Snapshot {
  /// The indexes of an entity, unique attributes among them, in the order in which they were added.
  ///
  /// Builds what is not built. Throws `.invalidArgument` if there is no such entity.
  public func indexes(of name: String) throws(AnnalsError) -> [IndexStatus] {
    let entity = try reader.entity(named: name)
    return try entity.indexShapes.sorted { $0.number < $1.number }.map {
      (shape) throws(AnnalsError) in
      let isBuilt = reader.state.isIndexBuilt(entity.number, shape.number)
      let view = try AnnalsError.translating { () throws(StateFault) in
        try reader.state.index(entity.number, shape.number)
      }
      let description = entity.indexes.first { $0.number == shape.number }
      return IndexStatus(
        name: description?.name ?? entity.attribute(numbered: shape.number)?.name ?? "",
        keys: shape.columns.map { column in
          let path = PropertyPath(entity.propertyName(column.property) ?? "")
          let nilsFirst = column.nullsFirst != column.isDescending
          return SortKey(
            path, isDescending: column.isDescending,
            nils: nilsFirst ? .byDirection : column.nullsFirst ? .first : .last)
        },
        condition: description.flatMap(entity.condition(of:)), isUnique: shape.isUnique,
        isBox: shape.isBox, entryCount: view?.count ?? 0, isBuilt: isBuilt)
    }
  }
}
