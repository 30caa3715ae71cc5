import AnnalsModel

/// What a merge has decided about unique keys that both sides have given.
struct SharedKeys {
  /// A unique rule, and the stored object that has the key.
  private struct Holder: Hashable {
    let rule: PropertyNumber
    let object: ObjectReference
  }

  /// Objects that the write inserted, each with the stored object it is united with; in the order
  /// found.
  private(set) var united: [(inserted: ObjectReference, stored: ObjectReference)] = []
  private var storedObjects: [ObjectReference: ObjectReference] = [:]
  private var holders: Set<Holder> = []
  /// Objects whose changes by the write are dropped.
  private(set) var dropped: Set<ObjectReference> = []
  private var kept: [ObjectReference: Set<PropertyNumber>] = [:]

  /// The stored object that an inserted one is united with; nil if none.
  func storedObject(for inserted: ObjectReference) -> ObjectReference? {
    storedObjects.isEmpty ? nil : storedObjects[inserted]
  }

  /// Whether the property keeps its stored value.
  func keeps(_ property: PropertyNumber, of object: ObjectReference) -> Bool {
    kept[object]?.contains(property) ?? false
  }

  /// Whether references of the write may have to be redirected.
  var redirects: Bool { !storedObjects.isEmpty }

  /// Unites an inserted object with the holder of its key. Returns false if another one is already
  /// united with that holder.
  mutating func unite(
    _ inserted: ObjectReference, with stored: ObjectReference, by rule: PropertyNumber
  ) -> Bool {
    guard holders.insert(Holder(rule: rule, object: stored)).inserted,
      storedObjects.updateValue(stored, forKey: inserted) == nil
    else { return false }
    united.append((inserted, stored))
    return true
  }

  /// Drops the write's changes of an object. Returns false if they were dropped already.
  mutating func drop(_ object: ObjectReference) -> Bool { dropped.insert(object).inserted }

  /// Keeps the stored values of an object's properties. Returns false if they were kept already.
  mutating func keep(_ properties: [PropertyNumber], of object: ObjectReference) -> Bool {
    let before = kept[object, default: []]
    kept[object] = before.union(properties)
    return kept[object] != before
  }

  /// The value, with references to united objects redirected to the stored ones.
  func redirect(
    _ value: Value, as relationship: @autoclosure () -> Relationship? = nil
  ) -> Value {
    value.moved(as: relationship()) { storedObjects[$0] ?? $0 }
  }
}

extension Value {
  /// The value with other objects in the place of those that it refers to; a list as the
  /// relationship, if there is one, keeps it.
  func moved<Failure: Error>(
    as relationship: @autoclosure () -> Relationship? = nil,
    _ place: (ObjectReference) throws(Failure) -> ObjectReference
  ) throws(Failure) -> Value {
    switch self {
    case .object(let reference): return .object(try place(reference))
    case .objects(let list):
      let moved = try list.map(place)
      return .objects(relationship()?.canonical(moved) ?? moved)
    default: return self
    }
  }

  /// The value with references to the objects' new ids.
  func moved(_ moves: [ObjectReference: ObjectReference]) -> Value { moved { moves[$0] ?? $0 } }
}
