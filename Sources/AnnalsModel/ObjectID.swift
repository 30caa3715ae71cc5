/// The stable number of an entity within a store: from 1, never reused.
public typealias EntityNumber = UInt32

/// The stable number of an attribute, relationship or index within its entity: from 1, never
/// reused.
public typealias PropertyNumber = UInt32

/// The identity of one object: its store, entity and row.
///
/// A row is never given to another object; undoing a delete revives the object under its own id.
@frozen
public struct ObjectID: Hashable, Sendable {
  /// The store that the object lives in.
  public var store: RawUUID
  /// The stable number of the object's entity.
  public var entity: EntityNumber
  /// The object's row within its entity, from 1.
  public var row: Int64

  /// The identity made of these three parts.
  @inlinable
  public init(store: RawUUID, entity: EntityNumber, row: Int64) {
    self.store = store
    self.entity = entity
    self.row = row
  }
}

/// An object within a known store: what a relationship holds.
@frozen
public struct ObjectReference: Hashable, Comparable, Sendable {
  /// The stable number of the object's entity.
  public var entity: EntityNumber
  /// The object's row within its entity, from 1.
  public var row: Int64

  /// The reference made of these two parts.
  @inlinable
  public init(entity: EntityNumber, row: Int64) {
    self.entity = entity
    self.row = row
  }

  /// The reference to this object, for one who knows its store.
  @inlinable
  public init(_ object: ObjectID) {
    self.init(entity: object.entity, row: object.row)
  }

  /// Whether `a` comes before `b`.
  @inlinable
  public static func < (a: ObjectReference, b: ObjectReference) -> Bool {
    a.entity != b.entity ? a.entity < b.entity : a.row < b.row
  }
}
