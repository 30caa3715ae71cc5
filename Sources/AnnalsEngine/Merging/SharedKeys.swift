import AnnalsModel

/// What a merge has decided of unique keys that both sides have given.
struct SharedKeys {
  /// A unique rule, and the stored object that has the key.
  private struct Holder: Hashable {
    let rule: PropertyNumber
    let object: ObjectReference
  }

  /// Objects that the write inserted, each with the stored object that it becomes one with; in the
  /// order in which they were found.
  private(set) var united: [(inserted: ObjectReference, stored: ObjectReference)] = []
  private var storedObjects: [ObjectReference: ObjectReference] = [:]
  private var holders: Set<Holder> = []
  /// Objects of which the write's changes are dropped.
  private(set) var dropped: Set<ObjectReference> = []
  private var kept: [ObjectReference: Set<PropertyNumber>] = [:]

  /// The stored object that one that the write inserted has become one with.
  func storedObject(for inserted: ObjectReference) -> ObjectReference? {
    storedObjects.isEmpty ? nil : storedObjects[inserted]
  }

  /// Whether the property keeps its stored value.
  func keeps(_ property: PropertyNumber, of object: ObjectReference) -> Bool {
    kept[object]?.contains(property) ?? false
  }

  /// Whether references of the write may have to be led elsewhere.
  var redirects: Bool { !storedObjects.isEmpty }

  /// Makes an inserted object one with the holder of its key; false if another already is.
  mutating func unite(
    _ inserted: ObjectReference, with stored: ObjectReference, by rule: PropertyNumber
  ) -> Bool {
    guard holders.insert(Holder(rule: rule, object: stored)).inserted,
      storedObjects.updateValue(stored, forKey: inserted) == nil
    else { return false }
    united.append((inserted, stored))
    return true
  }

  /// Drops what the write did to an object; false if it was dropped already.
  mutating func drop(_ object: ObjectReference) -> Bool { dropped.insert(object).inserted }

  /// Keeps the stored values of an object's properties; false if they were kept already.
  mutating func keep(_ properties: [PropertyNumber], of object: ObjectReference) -> Bool {
    let before = kept[object, default: []]
    kept[object] = before.union(properties)
    return kept[object] != before
  }

  /// Where a reference of the write leads.
  func redirect(_ value: Value) -> Value {
    switch value {
    case .object(let reference): .object(storedObjects[reference] ?? reference)
    case .objects(let list): .objects(list.map { storedObjects[$0] ?? $0 })
    default: value
    }
  }
}
