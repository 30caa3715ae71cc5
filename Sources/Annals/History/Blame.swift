import AnnalsEngine
import AnnalsModel
import AnnalsState

/// Who last set one property of an object, and to what.
public struct BlameLine: Sendable {
  /// The property's name now.
  public let property: String
  /// The property's value now.
  public let value: Value
  /// The transaction that set it; nil if that was pruned, or if the value is a default that no
  /// transaction wrote.
  public let transaction: Transaction?
}

extension Store {
  /// For each property of an object that has a value, who last set it.
  ///
  /// Reads history backward only as far as needed, skipping what cannot concern the object. Throws
  /// `.noSuchObject` if the object does not exist now.
  public func blame(_ object: ObjectID) throws(AnnalsError) -> [BlameLine] {
    let version = version
    guard let now = try version.snapshot.object(object) else {
      throw .objectNotFound(object, in: version.state.schema, of: version.store)
    }
    var found: [PropertyNumber: Transaction] = [:]
    var open = Set(now.values.map(\.property))
    var cursor = try history(of: object).reversed().makeCursor()
    walk: while !open.isEmpty, let transaction = try cursor.next() {
      for change in transaction.changes where change.objectID == object {
        for position in change.entry.propertyRange {
          let property = change.page.batch.properties[position].property
          if open.remove(property) != nil { found[property] = transaction }
        }
        if change.kind != .update { break walk }
      }
    }
    return now.values.map { property, value in
      BlameLine(
        property: now.entity.propertyName(property) ?? "#\(property)", value: value,
        transaction: found[property])
    }
  }
}
