import AnnalsFormat
import AnnalsLog
import AnnalsModel

/// The properties that a reader of history asks a state for, since changes do not say them: keys,
/// which name objects, and the lists of relationships, of which changes say the edits.
///
/// A state that moves along history with these alone takes no memory for the other values, however
/// many there are and were.
package struct NamingProperties: Sendable {
  /// By entity. All that any schema of the file names: which attribute is the key may change.
  private var kept: [EntityNumber: Set<PropertyNumber>] = [:]
  /// Objects of which all values are kept.
  private let objects: Set<ObjectReference>

  /// The properties of a file's schemas, and whatever these objects have.
  package init(_ view: LogView, andAllOf objects: Set<ObjectReference> = []) {
    self.objects = objects
    for step in view.schemaHistory {
      for entity in step.entities {
        var numbers = Set(entity.uniqueRules.lazy.flatMap(\.properties))
        numbers.formUnion(entity.relationships.lazy.map(\.number))
        kept[entity.number, default: []].formUnion(numbers)
      }
    }
  }

  /// Leaves out of all changes the other properties. The changes stay where they are.
  ///
  /// A reference stays wherever it is: in an attribute it is for the state to refuse.
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
