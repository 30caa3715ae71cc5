import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import AnnalsState

/// An index of an entity in one state.
public struct IndexStatus: Hashable, Sendable {
  /// The index's name; the attribute's name for a unique attribute.
  public let name: String
  /// The attributes, each with its direction.
  public let keys: [SortKey]
  /// The condition of a partial index; nil for an index of all objects.
  public let condition: Condition?
  /// Whether no two objects may have the same values.
  public let isUnique: Bool
  /// What its keys say; see `isBox`.
  package let kind: IndexKind
  /// The number of objects in it: all, but in a unique index or a box index only those with a value
  /// for each key.
  public let entryCount: Int
  /// Whether it existed before this was asked; otherwise it is built on first use.
  public let isBuilt: Bool
}

extension Snapshot {
  /// The indexes of an entity, including those of unique attributes, in the order in which they
  /// were added.
  ///
  /// Builds indexes that do not exist yet. Throws `.invalidArgument` if there is no such entity.
  public func indexes(of name: String) throws(AnnalsError) -> [IndexStatus] {
    let entity = try entity(named: name)
    return try entity.indexShapes.sorted { $0.number < $1.number }.map {
      (shape) throws(AnnalsError) in
      let isBuilt = reader.state.isIndexBuilt(entity.number, shape.number)
      let view = try AnnalsError.translating { try reader.state.index(entity.number, shape.number) }
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
        kind: shape.kind, entryCount: view?.count ?? 0, isBuilt: isBuilt)
    }
  }
}
