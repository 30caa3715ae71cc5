import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsState
import Foundation

/// The whole state of a store just after one transaction. Immutable.
///
/// Making and copying one costs O(1); later commits copy only what they touch. Safe to read on any
/// thread at once. Parts of the state are read from the file when first needed, so every read is
/// `throws`; what a read returns is complete.
public struct Snapshot: Sendable {
  package let reader: StateReader
  package let position: LogPosition

  /// The record types, bound to the store's newest schema.
  package let bindings: BoundRecords

  /// The clock of the store's environment, for timelines.
  package var clock: @Sendable () -> Timestamp = { Timestamp(Date()) }

  package init(reader: StateReader, position: LogPosition, bindings: BoundRecords) {
    var reader = reader
    if position.number < bindings.schemaVersion { reader.pastNumber = position.number }
    self.reader = reader
    self.position = position
    self.bindings = bindings
  }

  /// The position in history of this state.
  public var token: Token {
    Token(store: reader.store, number: position.number, opening: position.openingID)
  }

  /// The number of the last transaction in this state; 0 for an empty store.
  public var number: Int64 { position.number }

  /// The moment of that transaction, to the microsecond; 0 if there is none.
  package var moment: Timestamp { position.timestamp }

  /// The timestamp of that transaction; nil if there is none.
  public var timestamp: Date? { position.number == 0 ? nil : Date(position.timestamp) }

  /// The schema of this state.
  public var schema: Schema { reader.state.schema }

  /// The object with this id; nil if it does not exist in this state. Throws `.otherStore` if it is
  /// one of another store.
  public func object(_ id: ObjectID) throws(AnnalsError) -> DynamicObject? { try reader.object(id) }

  /// The object of the named entity whose unique attribute has this value; nil if none has.
  ///
  /// Compares values by kind and bytes. Throws `.invalidArgument` if the entity does not exist or
  /// the attribute is not unique.
  public func object(
    of entity: String, where attribute: String, is value: Value
  ) throws(AnnalsError) -> DynamicObject? {
    let entity = try self.entity(everNamed: entity)
    guard let row = try reader.row(of: entity, where: attribute, is: value) else { return nil }
    return try reader.object(row, of: entity)
  }

  /// All objects of the named entity, in id order; none in a state from before it existed. With
  /// `properties`, reads only these.
  public func objects(
    of entity: String, properties: [String]? = nil
  ) throws(AnnalsError) -> [DynamicObject] {
    var result: [DynamicObject] = []
    try AnnalsError.translating {
      try forEachObject(of: entity, properties: properties) { result.append($0) }
    }
    return result
  }

  /// Runs `body` on each object of the named entity, in id order, holding one at a time. An error
  /// of `body` ends the walk.
  public func forEachObject(
    of entity: String, properties: [String]? = nil, _ body: (DynamicObject) throws -> Void
  ) throws {
    try reader.forEachObject(of: self.entity(everNamed: entity), properties: properties, body)
  }

  /// The number of objects of the named entity. O(1).
  public func count(of entity: String) throws(AnnalsError) -> Int {
    reader.state.count(of: try self.entity(everNamed: entity).number)
  }
}

extension Snapshot {
  /// The entity of this name in this state.
  ///
  /// Throws `.invalidArgument`, with a list of the entities, if there is none.
  package func entity(named name: String) throws(AnnalsError) -> Entity {
    if let entity = schema.entity(named: name) { return entity }
    throw .unknownEntity(name, in: schema, asOf: isOfOlderSchema ? number : nil)
  }

  /// The entity of this name; also one that the store has got since, of which this state has no
  /// objects.
  ///
  /// Throws as `entity(named:)` does.
  func entity(everNamed name: String) throws(AnnalsError) -> Entity {
    if let entity = schema.entity(named: name) { return entity }
    let later = bindings.schema.entities.first {
      $0.name.hasSameBytes(as: name) && schema.entity(numbered: $0.number) == nil
    }
    if let later { return later }
    return try entity(named: name)
  }

  /// Whether the schema has changed since.
  package var isOfOlderSchema: Bool { schema != bindings.schema }
}
