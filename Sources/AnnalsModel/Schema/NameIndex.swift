/// The indexes of names in a list.
///
/// For schemas of thousands of names, where searching for each would take quadratic time.
package struct NameIndex: Sendable {
  private var places: [ContiguousArray<UInt8>: Int] = [:]

  /// Indexes these names; equal names get the index of the first.
  package init(_ names: some Sequence<String>) {
    for (place, name) in names.enumerated() { insert(name, at: place) }
  }

  /// The index of a name; nil if it is not in the list.
  package subscript(name: String) -> Int? { places[ContiguousArray(name.utf8)] }

  /// Adds a name. Returns false, and changes nothing, if it exists already.
  @discardableResult
  package mutating func insert(_ name: String, at place: Int) -> Bool {
    let bytes = ContiguousArray(name.utf8)
    guard places[bytes] == nil else { return false }
    places[bytes] = place
    return true
  }
}

/// The indexes of an entity's properties and indexes by name, without removed ones.
struct EntityNames {
  var attributes = NameIndex([])
  var relationships = NameIndex([])
  var indexes = NameIndex([])

  init() {}

  init(_ entity: Entity) {
    DefinitionProbe.count(entity.attributes.count + entity.relationships.count)
    for (place, attribute) in entity.attributes.enumerated() where !attribute.isRemoved {
      attributes.insert(attribute.name, at: place)
    }
    for (place, relationship) in entity.relationships.enumerated() where !relationship.isRemoved {
      relationships.insert(relationship.name, at: place)
    }
    indexes = NameIndex(entity.indexes.lazy.map(\.name))
  }
}
