import Annals
import AnnalsFormat
import AnnalsModel

/// Reads the changes of one line and applies them to a transaction.
final class ChangeReading {
  /// Whether inserts get the default values of attributes that `set` does not have.
  var fillsDefaults = true
  /// What may be added to the schema; nil for anything.
  var growth: SchemaGrowth?
  /// Which schema is fixed, for messages.
  var fixedSchema = "the schema given"
  /// What would add a missing name to a fixed schema; empty if nothing does.
  var growthOption = ""

  let transaction: WriteTransaction
  let keepsSchema: Bool
  var plans = EntityPlans()
  /// Relationships to objects that are not inserted yet.
  var deferred: [(ObjectReference, Relationship, Value)] = []

  init(_ transaction: WriteTransaction, keepsSchema: Bool) {
    self.transaction = transaction
    self.keepsSchema = keepsSchema
  }

  /// Reads the array of changes.
  func read(_ reader: JSONReader) throws {
    guard try reader.next() == .beginArray else { throw reader.fault("`changes` is not an array") }
    while true {
      let token = try reader.next()
      if token == .endArray { break }
      try change(reader, token)
    }
    // References to objects that were inserted later in the line.
    for (object, relationship, found) in deferred {
      guard let value = try references(found, relationship, reader) else {
        let entity = transaction.schema.entity(numbered: relationship.destination)?.name ?? "object"
        throw reader.fault(
          "`\(relationship.name)` names \(found.plainText.prefix(200)), "
            + (relationship.isToMany ? "not all of which exist" : "which does not exist")
            + ": it refers to \(entity)")
      }
      try transaction.draft.set(object, relationship.number, to: value)
    }
    deferred.removeAll()
  }

  /// The members of a change that identify its object.
  struct Head {
    var kind: ChangeKind?
    var entity: ContiguousArray<UInt8>?
    var id: Value?
    /// The number that `id` is, all its digits.
    var number: RawDecimal?
    var row: Int64?
    /// The text of `set`, if it came before the other members.
    var set: ContiguousArray<UInt8>?
    var hasSet = false
    var object: ObjectReference?

    /// The `id` as a key of an entity: a number as a decimal, if that is the key's type.
    func id(for plan: EntityPlan) -> Value? {
      plan.keyAttribute?.type == .decimal ? number.map { .decimal($0) } ?? id : id
    }

    var isComplete: Bool { kind != nil && entity != nil && (id != nil || row != nil) }
  }

  private func change(_ reader: JSONReader, _ token: JSONToken) throws {
    guard token == .beginObject else { throw reader.fault("a change is not an object") }
    var head = Head()
    var seen = 0
    while try reader.next() == .key {
      let member = try ChangeReading.member(reader)
      guard seen & 1 << member.rawValue == 0 else {
        throw reader.fault("a change has two members `\(member)`")
      }
      seen |= 1 << member.rawValue
      let value = try reader.next()
      switch member {
      case .op: head.kind = try ChangeReading.kind(reader, value)
      case .entity:
        guard value == .string else { throw reader.fault("`entity` is not a string") }
        head.entity = reader.text
      case .id:
        if value == .number {
          head.number = RawDecimal(String(decoding: reader.text, as: UTF8.self))
        }
        let id = try reader.value(value)
        if !id.isNull { head.id = id }
      case .row:
        guard head.object == nil else { throw reader.fault("`row` comes before `set`") }
        head.row = try reader.whole(value, of: "row")
        guard head.row ?? 0 > 0 else { throw reader.fault("`row` is not a number from 1") }
      case .set:
        head.hasSet = true
        if head.kind != .delete, head.isComplete {
          head.object = try begin(head, reader)
          try set(head, reader, value)
        } else {
          head.set = try reader.compactText(value)
        }
      }
    }
    try complete(&head, reader)
  }

  /// Checks the members and applies what could not be applied while they were read.
  private func complete(_ head: inout Head, _ reader: JSONReader) throws {
    guard let kind = head.kind else { throw reader.fault("a change has no `op`") }
    guard head.entity != nil else { throw reader.fault("a change has no `entity`") }
    guard head.id != nil || head.row != nil else { throw reader.fault("a change has no `id`") }
    guard kind != .delete || !head.hasSet else { throw reader.fault("a delete has no `set`") }
    if head.object == nil { head.object = try begin(head, reader) }
    if kind == .delete, let object = head.object { try transaction.draft.delete(object) }
    if let text = head.set {
      let inner = JSONReader(MemorySource(text), framing: .document)
      do {
        try set(head, inner, inner.next())
        reader.add(inner.untaggedObjects)
      } catch let fault as InputFault {
        throw reader.fault(fault.reason)
      }
    } else if kind == .update, !head.hasSet {
      throw reader.fault("an update has no `set`")
    }
  }

  /// Finds the object of a change, or inserts it.
  private func begin(_ head: Head, _ reader: JSONReader) throws -> ObjectReference {
    guard let name = head.entity, let kind = head.kind else {
      preconditionFailure("incomplete head")
    }
    let plan = try entityPlan(name, for: head.id, kind, reader)
    let key = try head.id(for: plan).map { try plan.key($0, reader) }
    if kind == .insert {
      if let row = head.row,
        try transaction.reader.exists(ObjectReference(entity: plan.entity.number, row: row))
      {
        throw reader.fault("there is an object in row \(row) of \(plan.entity.name) already")
      }
      let object = try transaction.draft.insert(
        entity: plan.entity.number, row: head.row, defaults: fillsDefaults ? plan.defaults : [])
      if let key, let attribute = plan.keyAttribute {
        try transaction.draft.set(object, attribute.number, to: key)
      }
      return object
    }
    var row = head.row
    if row == nil, let key, let attribute = plan.keyAttribute {
      row = try transaction.draft.row(of: plan.entity, where: attribute.name, is: key)
    }
    if let row {
      let object = ObjectReference(entity: plan.entity.number, row: row)
      if try transaction.reader.exists(object) { return object }
    }
    let shown = head.id.map { "/" + $0.plainText } ?? "#\(head.row ?? 0)"
    throw reader.fault(
      "there is no \(plan.entity.name)\(shown) to \(kind); it was never inserted, or deleted before"
    )
  }

  // MARK: - Entities

  private func entityPlan(
    _ name: ContiguousArray<UInt8>, for id: Value?, _ kind: ChangeKind, _ reader: JSONReader
  ) throws -> EntityPlan {
    if let plan = plans.plan(named: name, in: transaction.schema) { return plan }
    let text = String(decoding: name, as: UTF8.self)
    guard kind == .insert, !keepsSchema, let id else {
      let names = transaction.schema.liveEntities.map(\.name)
      let option = kind == .insert && keepsSchema ? growthOption : ""
      throw reader.fault("there is no entity \(text)" + remedy(for: text, among: names, option))
    }
    if let reason = growth?.entity(text, transaction.schema) { throw reader.fault(reason) }
    let type: AttributeType = if case .int = id { .int64 } else { .string }
    let entity = Entity(
      text, attributes: [Attribute("id", type, isOptional: false, isUnique: true)])
    return plans.add(try transaction.draft.append(entity))
  }

  /// The entity with all attributes that it has by now.
  func current(_ entity: Entity) -> Entity {
    transaction.schema.entity(numbered: entity.number) ?? entity
  }

  /// The name that was probably meant, and the option that adds the one given.
  func remedy(for name: String, among names: [String], _ option: String) -> String {
    let near = NearName.hint(name, among: names)
    if option.isEmpty { return near }
    return near + (near.isEmpty ? "; " : " ") + option
  }

  // MARK: - Members

  private enum Member: Int { case op, entity, id, row, set }

  private static func member(_ reader: JSONReader) throws(InputFault) -> Member {
    let text = reader.text
    switch text.count {
    case 2 where text.elementsEqual("op".utf8): return .op
    case 2 where text.elementsEqual("id".utf8): return .id
    case 3 where text.elementsEqual("set".utf8): return .set
    case 3 where text.elementsEqual("row".utf8): return .row
    case 6 where text.elementsEqual("entity".utf8): return .entity
    default:
      throw reader.fault("a change has no member `\(String(decoding: text, as: UTF8.self))`")
    }
  }

  private static func kind(
    _ reader: JSONReader, _ token: JSONToken
  ) throws(InputFault) -> ChangeKind {
    // By literals: the name of a case is printed anew each time.
    switch try reader.text(token, of: "op") {
    case "insert": .insert
    case "update": .update
    case "delete": .delete
    case let name: throw reader.fault("`op` is `\(name)`, which is not insert, update or delete")
    }
  }
}

extension WriteTransaction {
  /// Applies one change in JSON, as in a line of an import. `growth` is what it may add to the
  /// schema; nil for anything.
  ///
  /// - Throws: `InputFault` with the reason.
  package func apply(change: ContiguousArray<UInt8>, growth: SchemaGrowth? = nil) throws {
    var list = ContiguousArray("[".utf8)
    list.append(contentsOf: change)
    list.append(UInt8(ascii: "]"))
    let reader = JSONReader(MemorySource(list), framing: .document)
    let reading = ChangeReading(self, keepsSchema: false)
    reading.growth = growth
    try reading.read(reader)
  }
}
