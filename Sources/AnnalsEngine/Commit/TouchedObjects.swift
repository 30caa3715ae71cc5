import AnnalsModel

/// The objects that a transaction has touched, each once, in order of first touch.
package struct TouchedObjects {
  package private(set) var list: ContiguousArray<ObjectReference> = []
  private var seen: Set<ObjectReference> = []
  /// The entities of which the transaction touched every object that existed before it. These
  /// objects need not be in the list.
  package private(set) var entities: Set<EntityNumber> = []

  /// Adds an object that this transaction made, which cannot have been touched before.
  mutating func appendNew(_ object: ObjectReference) {
    list.append(object)
  }

  /// Adds an object that this transaction made, and that may have been deleted and is made again.
  mutating func insertNew(_ object: ObjectReference) {
    if list.count < 8 {
      if !list.contains(object) { list.append(object) }
      return
    }
    if seen.count != list.count { seen = Set(list) }
    if seen.insert(object).inserted { list.append(object) }
  }

  /// Adds an object that existed before the transaction, unless it was added already.
  mutating func insert(_ object: ObjectReference) {
    // Most transactions touch one object, perhaps many times; they need no hashing.
    if list.last == object { return }
    if list.count < 8 {
      if !list.contains(object) { list.append(object) }
      return
    }
    if seen.isEmpty { seen = Set(list) }
    if seen.insert(object).inserted { list.append(object) }
  }

  /// Puts what was changed because of deletions before the first of these, the last first: so who
  /// follows the changes one by one meets no reference to an object that is gone. O(objects).
  mutating func move(
    _ effects: [ObjectReference], before deletions: ContiguousArray<ObjectReference>
  ) {
    let causes = Set(deletions)
    if list.count >= effects.count, list.suffix(effects.count).elementsEqual(effects) {
      // Each was touched by one effect alone, as of a cascade.
      let others = list.dropLast(effects.count)
      let place = others.firstIndex(where: causes.contains) ?? others.endIndex
      var result = ContiguousArray(others[..<place])
      result.reserveCapacity(list.count)
      result += effects.reversed()
      result += others[place...]
      list = result
      return
    }
    var moved = Set(effects)
    var result: ContiguousArray<ObjectReference> = []
    result.reserveCapacity(list.count)
    let others = list.filter { !moved.contains($0) }
    let place = others.firstIndex(where: causes.contains) ?? others.endIndex
    result += others[..<place]
    for effect in effects.reversed() where moved.remove(effect) != nil { result.append(effect) }
    result += others[place...]
    list = result
  }

  /// Adds every object of an entity that existed before the transaction. O(1), however many.
  package mutating func insertAll(of entity: EntityNumber) {
    entities.insert(entity)
  }
}
