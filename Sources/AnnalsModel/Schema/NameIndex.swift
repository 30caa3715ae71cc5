/// The indexes of names in a list.
///
/// For schemas of thousands of names, where searching for each would take quadratic time. A few are
/// compared one by one: the first use of a dictionary of a type, even to free an empty one, takes
/// the runtime through all conformances of the process, an eighth of the first opening. So the
/// dictionary is in an object, which is freed without that.
package struct NameIndex: Sendable {
  private var few: ContiguousArray<(name: String, place: Int)> = []
  private var others: Others?
  private static let fewCount = 16

  /// The names behind the first few. Changed by the one index that has it.
  private final class Others: @unchecked Sendable {
    var places: [ContiguousArray<UInt8>: Int]
    init(_ places: [ContiguousArray<UInt8>: Int]) { self.places = places }
  }

  /// Indexes these names; equal names get the index of the first.
  package init(_ names: some Sequence<String>) {
    for (place, name) in names.enumerated() { insert(name, at: place) }
  }

  /// The index of a name; nil if it is not in the list.
  package subscript(name: String) -> Int? {
    for entry in few where entry.name.hasSameBytes(as: name) { return entry.place }
    return others?.places[ContiguousArray(name.utf8)]
  }

  /// Adds a name. Returns false, and changes nothing, if it exists already.
  @discardableResult
  package mutating func insert(_ name: String, at place: Int) -> Bool {
    guard self[name] == nil else { return false }
    if few.count < NameIndex.fewCount {
      few.append((name, place))
    } else {
      if !isKnownUniquelyReferenced(&others) { others = Others(others?.places ?? [:]) }
      others?.places[ContiguousArray(name.utf8)] = place
    }
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
