import AnnalsFormat
import AnnalsLog
import AnnalsModel

/// The properties that a reader of history needs from a state, since changes do not contain them:
/// keys, which name objects, and the lists of relationships, of which changes hold only the edits.
///
/// A state that follows history with these alone takes no memory for other values.
package struct NamingProperties: Sendable {
  /// By entity. Includes what any schema of the file defined, since the key attribute may change.
  private var kept: [EntityNumber: Set<PropertyNumber>] = [:]
  /// Objects of which all values are kept.
  private let objects: Set<ObjectReference>

  /// Collects these properties from a file's schemas; of the given objects, all properties.
  package init(_ view: LogView, andAllOf objects: Set<ObjectReference> = []) {
    self.objects = objects
    for step in view.schemaHistory {
      for entity in step.change.lazy.map(\.definition) {
        var numbers = Set(entity.uniqueRules.lazy.flatMap(\.properties))
        numbers.formUnion(entity.relationships.lazy.map(\.number))
        kept[entity.number, default: []].formUnion(numbers)
      }
    }
  }

  /// Removes all other properties from the changes, in place.
  ///
  /// References always stay, even in an attribute: it is for the state to refuse those.
  package func reduce(_ batch: inout ChangeBatch) {
    var entity: EntityNumber = 0
    var numbers: Set<PropertyNumber> = []
    for index in batch.changes.indices {
      let change = batch.changes[index]
      if change.entity != entity {
        entity = change.entity
        numbers = kept[entity] ?? []
      }
      if !objects.isEmpty, objects.contains(ObjectReference(entity: entity, row: change.row)) {
        continue
      }
      var end = change.propertyRange.lowerBound
      for position in change.propertyRange
      where numbers.contains(batch.properties[position].property)
        || batch.properties[position].isReference
      {
        batch.properties[end] = batch.properties[position]
        end += 1
      }
      batch.changes[index].propertyCount = UInt32(end - change.propertyRange.lowerBound)
    }
  }
}

extension PropertyChange {
  fileprivate var isReference: Bool {
    switch (before.tag, after.tag) {
    case (.object, _), (.objects, _), (_, .object), (_, .objects): true
    default: false
    }
  }
}
