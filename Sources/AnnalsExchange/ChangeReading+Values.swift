import Annals
import AnnalsModel

// Values that meet the schema: attributes that are new, or that get a value of another kind, and
// relationships, which are read by the keys of their targets.

extension ChangeReading {
  /// The value as one of the attribute's type; the attribute becomes `any` if it has to and may.
  func fit(
    _ found: Value, _ attribute: Attribute, _ plan: inout EntityPlan,
    _ name: ContiguousArray<UInt8>,
    _ reader: JSONReader
  ) throws -> Value {
    do throws(ValueTextFault) {
      if let value = try attribute.type.value(from: found) { return value }
      // With a schema given, a whole number may stand for a double.
      if keepsSchema, attribute.type == .double, case .int(let whole) = found {
        if let exact = Double(exactly: whole) { return .double(exact) }
      }
    } catch {
      throw reader.fault("\(plan.entity.name).\(attribute.name): \(error)")
    }
    guard !keepsSchema, !attribute.isUnique, attribute.type.isInferred else {
      throw reader.fault(
        "\(plan.entity.name).\(attribute.name) is of type \(attribute.type), and "
          + "`\(found.plainText.prefix(60))` is no such value")
    }
    try beforeWidening(attribute, plan.entity, found)
    var wider = attribute
    wider.type = .any
    try define(wider, in: plan.entity)
    plan = renew(name) ?? plan
    return found
  }

  /// Adds an attribute of the value's type and returns its number.
  func addAttribute(
    _ name: ContiguousArray<UInt8>, _ value: Value, _ plan: inout EntityPlan,
    _ entity: ContiguousArray<UInt8>, _ reader: JSONReader
  ) throws -> PropertyNumber {
    let text = String(decoding: name, as: UTF8.self)
    guard !keepsSchema else {
      throw reader.fault("\(plan.entity.name) has no property `\(text)` in the schema given")
    }
    let attribute = Attribute(text, AttributeType(inferredFrom: value))
    try transaction.require(Schema(entities: [Entity(plan.entity.name, attributes: [attribute])]))
    guard let renewed = renew(entity), case .attribute(let added)? = renewed.attribute(name) else {
      throw reader.fault("\(plan.entity.name) has no property `\(text)`")
    }
    plan = renewed
    return added.number
  }

  /// Puts a wider definition of an attribute in place.
  private func define(_ attribute: Attribute, in entity: Entity) throws {
    var entity = transaction.schema.entity(numbered: entity.number) ?? entity
    guard let index = entity.attributes.firstIndex(where: { $0.number == attribute.number }) else {
      return
    }
    entity.attributes[index] = attribute
    transaction.define([entity])
  }

  /// What a relationship's member names; nil if one of its targets does not exist (yet).
  func references(
    _ found: Value, _ relationship: Relationship, _ reader: JSONReader
  ) throws -> Value? {
    if found.isNull { return .null }
    guard relationship.isToMany else {
      return try target(found, relationship, reader).map { .object($0) }
    }
    guard case .json(let text) = found, text.utf8.first == UInt8(ascii: "[") else {
      throw reader.fault("`\(relationship.name)` is not an array")
    }
    let inner = JSONReader(MemorySource(text.utf8), framing: .document)
    var list: [ObjectReference] = []
    _ = try inner.next()
    while case let token = try inner.next(), token != .endArray {
      guard let target = try target(inner.value(token), relationship, reader) else { return nil }
      list.append(target)
    }
    return .objects(relationship.canonical(list))
  }

  /// The object that a key, or `{"$row":N}`, names; nil if no object has the key.
  private func target(
    _ found: Value, _ relationship: Relationship, _ reader: JSONReader
  ) throws -> ObjectReference? {
    guard let entity = transaction.schema.entity(numbered: relationship.destination) else {
      throw reader.fault("`\(relationship.name)` leads to no entity")
    }
    if case .json(let text) = found {
      let inner = JSONReader(MemorySource(text.utf8), framing: .document)
      guard try inner.next() == .beginObject, try inner.next() == .key,
        inner.text.elementsEqual("$row".utf8), case let token = try inner.next(),
        case let row = try inner.whole(token, of: "$row"), row > 0, try inner.next() == .endObject
      else { throw reader.fault("`\(relationship.name)` is neither a key nor {\"$row\":N}") }
      transaction.origin.allowsDangling = true
      return ObjectReference(entity: entity.number, row: row)
    }
    let key = try EntityPlan(entity).key(found, reader)
    guard let attribute = entity.keyAttribute else { return nil }
    return try transaction.row(of: entity, where: attribute.name, is: key).map {
      ObjectReference(entity: entity.number, row: $0)
    }
  }
}

extension EntityPlan {
  func attribute(_ name: ContiguousArray<UInt8>) -> Property? {
    var copy = self
    return copy.find(name)
  }
}

extension AttributeType {
  /// The type of an attribute whose first value this is.
  init(inferredFrom value: Value) {
    self =
      AttributeType.allCases.first { $0 != .int16 && $0 != .int32 && $0.tag == value.tag } ?? .any
  }

  /// Whether an import may have given an attribute this type by itself.
  var isInferred: Bool {
    switch self {
    case .bool, .int64, .double, .string, .json: true
    default: false
    }
  }
}
