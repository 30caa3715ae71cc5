/// Places in a list by the bytes of the names that stand there.
///
/// For schemas of thousands of names, where a search for each would take the square of that.
package struct NameIndex: Sendable {
  private var places: [ContiguousArray<UInt8>: Int] = [:]

  /// The places of these names in their order; of equal names the first has its place.
  package init(_ names: some Sequence<String>) {
    for (place, name) in names.enumerated() { insert(name, at: place) }
  }

  /// The place of a name; nil if it is not there.
  package subscript(name: String) -> Int? { places[ContiguousArray(name.utf8)] }

  /// Adds a name; false, changing nothing, if it is there already.
  @discardableResult
  package mutating func insert(_ name: String, at place: Int) -> Bool {
    let bytes = ContiguousArray(name.utf8)
    guard places[bytes] == nil else { return false }
    places[bytes] = place
    return true
  }
}

/// The places of an entity's properties and indexes by name, without those that were removed.
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
