/// The stable number of an entity within a store: from 1, never reused.
public typealias EntityNumber = UInt32

/// The stable number of an attribute, relationship or index within its entity: from 1, never
/// reused.
public typealias PropertyNumber = UInt32

/// The identity of an object: its store, entity and row.
///
/// A row is never given to another object. Undoing a delete revives the object under its own id.
@frozen
public struct ObjectID: Hashable, Sendable {
  /// The store of the object.
  @usableFromInline package var store: RawUUID
  /// The stable number of the object's entity.
  public let entity: EntityNumber
  /// The object's row within its entity, from 1.
  public let row: Int64

  /// Creates an id from its parts.
  @inlinable
  package init(store: RawUUID, entity: EntityNumber, row: Int64) {
    self.store = store
    self.entity = entity
    self.row = row
  }
}

extension ObjectID: LosslessStringConvertible, CustomStringConvertible {
  /// `ENTITY#ROW@STORE-UUID`, with the entity's number.
  public var description: String { "\(entity)#\(row)@\(store)" }

  /// Reads the text form; nil for anything else.
  public init?(_ text: String) {
    let halves = text.split(separator: "@", omittingEmptySubsequences: false)
    guard halves.count == 2, let store = RawUUID(String(halves[1])) else { return nil }
    let parts = halves[0].split(separator: "#", omittingEmptySubsequences: false)
    guard parts.count == 2, let entity = EntityNumber(parts[0]), entity > 0,
      let row = Int64(parts[1]), row > 0
    else { return nil }
    self.init(store: store, entity: entity, row: row)
  }
}

extension ObjectID: Codable {
  /// Encodes the text form.
  public func encode(to encoder: any Encoder) throws { try encoder.encodeText(self) }

  /// Decodes the text form; throws `DecodingError.dataCorrupted` for anything else.
  public init(from decoder: any Decoder) throws {
    self = try decoder.decodeText(ObjectID.self, called: "an object's id")
  }
}

/// An object within a known store: what a relationship holds.
@frozen
public struct ObjectReference: Hashable, Comparable, Sendable {
  /// The stable number of the object's entity.
  public let entity: EntityNumber
  /// The object's row within its entity, from 1.
  public let row: Int64

  /// Creates a reference from its parts.
  @inlinable
  package init(entity: EntityNumber, row: Int64) {
    self.entity = entity
    self.row = row
  }

  /// The reference to this object; drops the store.
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
