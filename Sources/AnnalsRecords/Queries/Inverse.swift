import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import AnnalsState

/// The other side of a relationship: the objects that refer to one.
///
/// A store keeps a reference on one side only, and derives the other. Declare it beside the record
/// that is referred to:
///
///     extension Timeline {
///       static let events = Inverse(\Event.timeline)
///     }
///
///     let events = try snapshot.objects(timeline, \.events)
///     let soon = Fetch(timeline, \.events).where(\.start > .now).sorted(by: \.start)
///     try store.write { tx in try tx.add(event, to: timeline, \.events) }
///
/// A relationship with a delete rule, which a new one has unless it says `.keep`, or with
/// `inverse(_:)` has an index for this: O(log n), and the objects found. Without, all objects are
/// read.
public struct Inverse<Source: Record, Target: Record>: Sendable {
  /// The condition on objects that refer to the one with this id.
  let condition: @Sendable (ObjectID) -> RecordCondition<Source>
  /// The name of the relationship.
  let property: @Sendable () -> String
  /// Makes an object refer to another one, or no longer.
  fileprivate let connect: @Sendable (WriteTransaction, ObjectID, ObjectID, Bool) throws -> Void

  /// The objects whose reference leads to an object.
  public init(_ keyPath: any KeyPath<Source, Reference<Target>?> & Sendable) {
    condition = { .compare(keyPath, .equal, Reference<Target>($0)) }
    property = { Source.entity.propertyName(of: keyPath) }
    connect = { tx, source, target, isConnected in
      let current: Reference<Target>? = try tx.current(
        source, tx.binding(of: Source.self))[keyPath: keyPath]
      if !isConnected, current?.objectID != target { return }
      try tx.set(keyPath, of: source, to: isConnected ? Reference(target) : nil)
    }
  }

  /// The objects whose required reference leads to an object. Removing one from it fails the
  /// transaction unless it is added to another.
  public init(_ keyPath: any KeyPath<Source, Reference<Target>> & Sendable) {
    condition = { .compare(keyPath, .equal, Reference<Target>($0)) }
    property = { Source.entity.propertyName(of: keyPath) }
    connect = { tx, source, target, isConnected in
      guard isConnected else {
        return try tx.update(source, [Source.entity.propertyName(of: keyPath): .null])
      }
      try tx.set(keyPath, of: source, to: Reference(target))
    }
  }

  /// The objects whose list has an object.
  public init(_ keyPath: any KeyPath<Source, [Reference<Target>]> & Sendable) {
    condition = { .contains(keyPath, Reference<Target>($0)) }
    property = { Source.entity.propertyName(of: keyPath) }
    connect = { tx, source, target, isConnected in
      var list = try tx.current(source, tx.binding(of: Source.self))[keyPath: keyPath]
      let reference = Reference<Target>(target)
      if isConnected {
        if list.contains(reference) { return }
        list.append(reference)
      } else {
        list.removeAll { $0 == reference }
      }
      try tx.set(keyPath, of: source, to: list)
    }
  }

  /// Its name on a path.
  var pathName: String { Schema.inverseName(of: property(), in: Source.entity.name) }
}

/// A key path to a static property of a record: `\.events` for `Timeline.events`.
public typealias InversePath<Source: Record, Target: Record> = KeyPath<
  Target.Type, Inverse<Source, Target>
>

extension Fetch {
  /// The objects that refer to one: `Fetch(timeline, \.events)`. A fetch like any other, to be
  /// narrowed, sorted and followed live.
  public init<Target: Record>(_ object: Object<Target>, _ inverse: InversePath<R, Target>) {
    self.init(Target.self, object.objectID, inverse)
  }

  /// The objects that refer to the one with this id.
  public init<Target: Record>(
    _ type: Target.Type, _ id: ObjectID, _ inverse: InversePath<R, Target>
  ) {
    self = Fetch(R.self).where(type[keyPath: inverse].condition(id))
  }
}

extension ObjectSource {
  /// The objects that refer to one, in id order: `try snapshot.objects(timeline, \.events)`.
  /// O(log n) and the objects found, if the relationship is indexed; see `Inverse`. Throws as
  /// `fetch(_:)` does.
  public func objects<R: Record, Target: Record>(
    _ object: Object<Target>, _ inverse: InversePath<R, Target>
  ) throws(AnnalsError) -> [Object<R>] {
    let query = try _query(R.self)
    guard let rows = try query.rows(of: Target.self[keyPath: inverse], object) else {
      return try fetch(Fetch(object, inverse))
    }
    return try query.objects(rows)
  }

  /// How many objects refer to one; as `objects(_:_:)`, without reading them.
  public func count<R: Record, Target: Record>(
    _ object: Object<Target>, _ inverse: InversePath<R, Target>
  ) throws(AnnalsError) -> Int {
    if let count = try _query(R.self).count(of: Target.self[keyPath: inverse], object) {
      return count
    }
    return try count(Fetch(object, inverse))
  }

  /// The object that refers to one, where at most one does; the first if there are several.
  public func object<R: Record, Target: Record>(
    _ object: Object<Target>, _ inverse: InversePath<R, Target>
  ) throws(AnnalsError) -> Object<R>? { try first(Fetch(object, inverse)) }
}

extension RecordQuery {
  /// The rows that refer to an object, by the index of who does; nil if the store keeps none, or if
  /// a fetch must say what is wrong with the object.
  fileprivate func rows<Target: Record>(
    of inverse: Inverse<R, Target>, _ object: Object<Target>
  ) throws(AnnalsError) -> [Int64]? {
    guard let relationship = try relationship(of: inverse, to: object) else { return nil }
    return try AnnalsError.translating {
      try reader.state.referrers(to: object.objectID.row, from: binding.entity, by: relationship)
    }
  }

  /// How many objects refer to one; nil as `rows` is.
  fileprivate func count<Target: Record>(
    of inverse: Inverse<R, Target>, _ object: Object<Target>
  ) throws(AnnalsError) -> Int? {
    guard let relationship = try relationship(of: inverse, to: object) else { return nil }
    return try AnnalsError.translating {
      try reader.state.countOfReferrers(
        to: object.objectID.row, from: binding.entity, by: relationship)
    }
  }

  /// The number of the relationship that an inverse is the other side of; nil for an object that it
  /// cannot lead to.
  private func relationship<Target: Record>(
    of inverse: Inverse<R, Target>, to object: Object<Target>
  ) throws(AnnalsError) -> PropertyNumber? {
    let id = object.objectID
    guard id.store == reader.store else { return nil }
    return try AnnalsError.translating {
      let target = ObjectReference(entity: id.entity, row: id.row)
      return try relationship(named: inverse.property(), to: target)?.number
    }
  }

  /// The rows that a fetch finds which says no more than to what object they refer, in id order;
  /// nil if it says anything else, or as `rows` is. No plan is made.
  func referrers(_ fetch: Fetch<R>) throws(AnnalsError) -> [Int64]? {
    guard let condition = fetch.condition, fetch.sortKeys.isEmpty, fetch.maximumCount == nil,
      fetch.skippedCount == 0, fetch.indexes == .automatic,
      condition.stores.allSatisfy({ $0 == reader.store })
    else { return nil }
    let (path, target, isInList): (PropertyPath, ObjectReference, Bool)
    switch condition.condition.form {
    case .comparison(let one, .equal, .object(let object)):
      (path, target, isInList) = (one, object, false)
    case .contains(let list, let object): (path, target, isInList) = (list, object, true)
    default: return nil
    }
    guard path.names.count == 1, path.replacement == nil else { return nil }
    return try AnnalsError.translating {
      guard let relationship = try relationship(named: path.names[0], to: target),
        relationship.isToMany == isInList
      else { return nil }
      return try reader.state.referrers(
        to: target.row, from: binding.entity, by: relationship.number)
    }
  }

  /// The relationship of this name, if it may have an index and lead to this object, and there is
  /// the object.
  private func relationship(
    named name: String, to target: ObjectReference
  ) throws -> Relationship? {
    guard let relationship = newest.entity(numbered: binding.entity)?.relationship(named: name),
      relationship.isIndexed, relationship.destination == target.entity,
      try reader.state.contains(target.entity, target.row)
    else { return nil }
    return relationship
  }
}

extension WriteTransaction {
  /// Makes an object refer to another one, by the relationship behind an inverse:
  /// `try tx.add(event, to: timeline, \.events)`. A to-one reference that it had goes; a list gets
  /// the object at its end, unless it has it.
  ///
  /// Throws `.noSuchObject` if the referring object does not exist, and as `set(_:of:to:)` does.
  public func add<R: Record, Target: Record>(
    _ object: Object<R>, to target: Object<Target>, _ inverse: InversePath<R, Target>
  ) throws {
    try Target.self[keyPath: inverse].connect(self, object.objectID, target.objectID, true)
  }

  /// Makes an object no longer refer to another one; does nothing if it does not. Throws as
  /// `add(_:to:_:)` does.
  public func remove<R: Record, Target: Record>(
    _ object: Object<R>, from target: Object<Target>, _ inverse: InversePath<R, Target>
  ) throws {
    try Target.self[keyPath: inverse].connect(self, object.objectID, target.objectID, false)
  }
}
