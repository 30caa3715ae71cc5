import AnnalsEngine
import AnnalsModel

/// A reference to an object of a record type's entity.
///
/// A property of type `Reference<Place>?` leads to at most one place, one of type
/// `Reference<Place>` to exactly one, one of type `[Reference<Place>]` to any number. The entity is
/// looked up when the store opens, so two record types may refer to each other.
///
/// A transaction that leaves a required reference empty is refused. An object whose required
/// reference leads to an object that was deleted later cannot be read as a record: that is
/// `.unreadableRecord`, which names the two.
///
///     struct Event: Record {
///       var title: String
///       var place: Reference<Place>?
///       static let entity = RecordEntity("Event", Event.init,
///         Property("title", \.title), Property("place", \.place))
///     }
///
///     let event = try store.write { tx in
///       let kyoto = try tx.insert(Place(name: "Kyoto"))
///       return try tx.insert(Event(title: "Trip", place: Reference(kyoto)))
///     }
///     let snapshot = store.snapshot()
///     let place = try snapshot[event.place]  // Object<Place>?
public struct Reference<R: Record>: Hashable, Sendable {
  /// The id of the object.
  public let objectID: ObjectID

  /// A reference to this object.
  public init(_ object: Object<R>) { objectID = object.objectID }

  /// A reference to the object with this id. When the reference is written, the id's entity must be
  /// that of `R`.
  public init(_ objectID: ObjectID) { self.objectID = objectID }
}

extension Reference: Codable {
  /// Encodes the text form of the object's id.
  public func encode(to encoder: any Encoder) throws { try objectID.encode(to: encoder) }

  /// Decodes the text form of an object's id; throws `DecodingError.dataCorrupted` for anything
  /// else. Does not check whether there is such an object.
  public init(from decoder: any Decoder) throws { objectID = try ObjectID(from: decoder) }
}

/// Whether the reference leads to the object; false for none.
public func == <R: Record>(reference: Reference<R>?, object: Object<R>) -> Bool {
  reference?.objectID == object.objectID
}

/// Whether the reference leads to another object, or to none.
public func != <R: Record>(reference: Reference<R>?, object: Object<R>) -> Bool {
  !(reference == object)
}

extension Object {
  /// A reference to this object, for a property of another record: `Stop(line: line.reference)`.
  public var reference: Reference<R> { Reference(self) }
}

/// A reference to at most one object, or to exactly one: the types `Reference<R>?` and
/// `Reference<R>`. No other type may conform.
public protocol ToOneReference<Destination>: AttributeValue {
  /// The record type of the object.
  associatedtype Destination: Record
}

extension Reference: ToOneReference {
  /// The record type of the object.
  public typealias Destination = R
}

extension Optional: ToOneReference where Wrapped: ToOneReference {
  /// The record type of the object.
  public typealias Destination = Wrapped.Destination
}

extension Reference: CustomStringConvertible {
  /// The entity and the row: `Place#4`.
  public var description: String { "\(R.entity.name)#\(objectID.row)" }
}

/// The types of relationships: `ObjectID` and `Reference`. No other type may conform.
public protocol RelationshipValue: AttributeValue {}

extension RelationshipValue {
  /// Never used: a relationship is not an attribute.
  public static var attributeType: AttributeType { .any }
  /// Never used; nil.
  public static func _read(_ stored: StoredCell) -> Self? { nil }
  /// Calls `body` with no value.
  public func _withCell(_ body: (StoredCell) -> Void) { body(.null) }
  /// Whether the values are ids of objects.
  public static var _isRelationship: Bool { true }
}

extension Reference: RelationshipValue {
  /// The value of a relationship to these objects; nil for types of attributes.
  public static func _read(_ objects: [ObjectID]) -> Reference? {
    objects.first.map(Reference.init)
  }
  /// The objects that the relationship leads to.
  public var _objects: [ObjectID] { [objectID] }
}

extension Array: AttributeValue where Element: RelationshipValue {
  /// Never used: a relationship is not an attribute.
  public static var attributeType: AttributeType { .any }
  /// The value of a relationship to these objects; nil for types of attributes.
  public static func _read(_ stored: StoredCell) -> [Element]? { nil }
  /// Calls `body` once with the form in which the value is stored.
  public func _withCell(_ body: (StoredCell) -> Void) { body(.null) }
  /// Whether the values are ids of objects.
  public static var _isRelationship: Bool { true }

  /// The value of a relationship to these objects; nil for types of attributes.
  public static func _read(_ objects: [ObjectID]) -> [Element]? {
    if Element.self == ObjectID.self { return unsafeBitCast(objects, to: [Element].self) }
    guard Element.self is any TypedReference.Type else {
      return objects.compactMap { Element._read([$0]) }
    }
    // With no capacity it would write its length into the empty array that all threads share.
    guard !objects.isEmpty else { return [] }
    // A reference is its object's id, so that long lists are copied as bytes: without the type,
    // making each would cost more than all else.
    return [Element](unsafeUninitializedCapacity: objects.count) { buffer, count in
      objects.withUnsafeBytes { UnsafeMutableRawBufferPointer(buffer).copyMemory(from: $0) }
      count = objects.count
    }
  }

  /// The objects that the relationship leads to.
  public var _objects: [ObjectID] {
    if Element.self == ObjectID.self { return unsafeBitCast(self, to: [ObjectID].self) }
    guard Element.self is any TypedReference.Type else { return flatMap(\._objects) }
    guard !isEmpty else { return [] }
    return [ObjectID](unsafeUninitializedCapacity: count) { buffer, initialized in
      withUnsafeBytes { UnsafeMutableRawBufferPointer(buffer).copyMemory(from: $0) }
      initialized = count
    }
  }
}

/// A property type that itself determines the entity of a relationship.
protocol RelationshipForm {
  static var relationship: RelationshipDefinition { get }
}

/// A reference whose record type is only known at run time.
protocol TypedReference {
  /// A relationship to objects of that record type.
  static func relationship(isToMany: Bool) -> RelationshipDefinition
}

extension Reference: TypedReference {
  static func relationship(isToMany: Bool) -> RelationshipDefinition {
    RelationshipDefinition(to: R.self, isToMany: isToMany)
  }
}

extension Reference: RelationshipForm {
  static var relationship: RelationshipDefinition {
    var required = relationship(isToMany: false)
    required.isRequired = true
    return required
  }
}

extension Optional: RelationshipForm where Wrapped: TypedReference {
  static var relationship: RelationshipDefinition {
    Wrapped.relationship(isToMany: false)
  }
}

extension Array: RelationshipForm where Element: TypedReference {
  static var relationship: RelationshipDefinition {
    Element.relationship(isToMany: true)
  }
}
