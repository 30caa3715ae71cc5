import Annals
import AnnalsFormat
import AnnalsModel

// Fits values to the schema: adds or widens attributes, and resolves the keys in relationships.

extension ChangeReading {
  /// The value in the attribute's type; `written` is the type in the lines, if it is another.
  /// Widens the attribute to `any` if necessary and allowed.
  func fit(
    _ found: Value, _ written: AttributeType?, _ attribute: Attribute, _ plan: EntityPlan,
    _ reader: JSONReader
  ) throws -> Value {
    var found = found
    do throws(ValueTextFault) {
      if let written { found = try written.value(from: found) ?? found }
      if let value = try attribute.type.value(from: found) { return value }
      // Where the schema does not follow the lines, a whole number may stand for a double.
      if keepsSchema || growth != nil, attribute.type == .double, case .int(let whole) = found {
        if let exact = Double(exactly: whole) { return .double(exact) }
      }
    } catch {
      throw reader.fault("\(plan.entity.name).\(attribute.name): \(error)")
    }
    let keepsType = plan.entity.indexKeepingType(of: attribute.number) != nil
    let isRead =
      transaction.schema.derivedName(from: attribute.number, of: plan.entity.number) != nil
    guard !keepsSchema, !attribute.isUnique, !keepsType, !isRead, attribute.type.isInferred else {
      throw reader.fault(
        "\(plan.entity.name).\(attribute.name) is of type \(attribute.type), and "
          + "`\(found.plainText.prefix(60))` is no such value")
    }
    if let reason = growth?.widening(attribute, plan.entity, found) { throw reader.fault(reason) }
    transaction.draft.widen(attribute.number, of: plan.entity.number)
    var wider = attribute
    wider.type = .any
    plan.add(wider)
    return found
  }

  /// Adds an attribute of the value's type and returns it.
  func addAttribute(
    _ name: ContiguousArray<UInt8>, _ value: Value, _ plan: EntityPlan, _ reader: JSONReader
  ) throws -> Attribute {
    let text = String(decoding: name, as: UTF8.self)
    guard !keepsSchema else {
      let names = current(plan.entity).readableProperties.map(\.name)
      throw reader.fault(
        "\(plan.entity.name) has no property `\(text)` in \(fixedSchema)"
          + remedy(for: text, among: names, growthOption))
    }
    let added = try transaction.draft.append(
      Attribute(text, AttributeType(inferredFrom: value)), to: plan.entity.number)
    plan.add(added)
    return added
  }

  /// The references of a relationship's member; nil if a target does not exist (yet).
  func references(
    _ found: Value, _ relationship: Relationship, _ reader: JSONReader
  ) throws -> Value? {
    if found.isNull || found.isErased { return found }
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
    guard
      let plan = plans.plan(numbered: relationship.destination, in: transaction.schema)
    else {
      throw reader.fault("`\(relationship.name)` leads to no entity")
    }
    if case .json(let text) = found {
      let inner = JSONReader(MemorySource(text.utf8), framing: .document)
      guard try inner.next() == .beginObject, try inner.next() == .key,
        inner.text.elementsEqual("$row".utf8), case let token = try inner.next(),
        case let row = try inner.whole(token, of: "$row"), row > 0,
        row <= FormatLimits.maximumRow, try inner.next() == .endObject
      else { throw reader.fault("`\(relationship.name)` is neither a key nor {\"$row\":N}") }
      transaction.draft.origin.allowsDangling = true
      return ObjectReference(entity: plan.entity.number, row: row)
    }
    let key = try plan.key(found, reader)
    guard let attribute = plan.keyAttribute else { return nil }
    return try transaction.draft.row(of: plan.entity, where: attribute.name, is: key).map {
      ObjectReference(entity: plan.entity.number, row: $0)
    }
  }
}

extension AttributeType {
  /// The type of a new attribute with this first value.
  init(inferredFrom value: Value) {
    self =
      AttributeType.allCases.first { $0 != .int16 && $0 != .int32 && $0.tag == value.tag } ?? .any
  }

  /// Whether an import can have inferred this type.
  var isInferred: Bool {
    switch self {
    case .bool, .int64, .double, .string, .json: true
    default: false
    }
  }
}
