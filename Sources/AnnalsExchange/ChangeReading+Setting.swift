import Annals
import AnnalsFormat
import AnnalsModel

// The values of a change: the members of `set`.

extension ChangeReading {
  /// Returns the value. An erased value makes the file announce the feature.
  private func erasable(_ value: Value) -> Value {
    if value.isErased { transaction.draft.origin.features.formUnion(.erasure) }
    return value
  }

  /// Notes an erased value that an update sets, which may have been erased before.
  private func noteErased(_ property: PropertyNumber, _ head: Head) throws {
    guard head.kind == .update, let object = head.object else { return }
    try transaction.draft.noteErasedAgain(object, property)
  }

  /// Reads the object of values and sets them.
  func set(_ head: Head, _ reader: JSONReader, _ token: JSONToken) throws {
    guard token == .beginObject else { throw reader.fault("`set` is not an object") }
    guard let object = head.object, let name = head.entity,
      let plan = plans.plan(named: name, in: transaction.schema)
    else {
      preconditionFailure("incomplete head")
    }
    var seen = NumberSet()
    while try reader.next() == .key {
      let found = plan.find(reader.text)
      let number: PropertyNumber
      let name: String
      switch found {
      case .attribute(let planned):
        number = planned.attribute.number
        name = planned.attribute.name
        try set(planned, to: next(reader, of: found), head, plan, reader)
      case .relationship(let relationship):
        number = relationship.number
        name = relationship.name
        try set(relationship, to: next(reader, of: found), head, reader)
      case nil:
        // Kept only here: while somebody has the text, the reader takes memory for the next.
        let property = reader.text
        name = String(decoding: property, as: UTF8.self)
        let value = try next(reader, of: found)
        guard let added = try setNew(property, to: value, object, plan, reader) else { continue }
        number = added
      }
      guard seen.insert(number) else { throw reader.fault("`set` has two members `\(name)`") }
    }
  }

  /// The value's first token; a long string that is stored part by part is not read whole.
  private func next(
    _ reader: JSONReader, of found: EntityPlan.Property?
  ) throws(InputFault) -> JSONToken {
    switch found {
    case .attribute(let planned):
      guard canBeRead(inParts: planned.attribute, written: planned.written) else { break }
      reader.partLength = ChangeReading.partLength
    case nil: reader.partLength = ChangeReading.partLength
    case .relationship: break
    }
    defer { if !reader.isWithinString { reader.partLength = .max } }
    return try reader.next()
  }

  /// How many bytes of a long string are read at once.
  private static let partLength = 1 << 20

  /// Sets an attribute to the value that the reader has.
  private func set(
    _ planned: EntityPlan.PlannedAttribute, to value: JSONToken, _ head: Head,
    _ plan: EntityPlan, _ reader: JSONReader
  ) throws {
    let (attribute, written) = (planned.attribute, planned.written)
    guard let object = head.object else { preconditionFailure("incomplete head") }
    if reader.isWithinString {
      return try store(partsOf: reader, in: attribute, written: written, object)
    }
    if let large = try largeValue(value, of: attribute, written: written, object, reader) {
      return try transaction.draft.set(object, attribute.number, to: large)
    }
    let found = try erasable(reader.value(value, written: written ?? attribute.type))
    let fitting = try fit(found, written, attribute, plan, reader)
    if head.kind == .insert, attribute.number == plan.keyAttribute?.number,
      let id = head.id(for: plan), try plan.key(id, reader) != fitting
    {
      throw reader.fault("`id` and `\(attribute.name)` in `set` differ")
    }
    try transaction.draft.set(object, attribute.number, to: fitting)
    if fitting.isErased { try noteErased(attribute.number, head) }
  }

  /// Sets a relationship to what the reader has; later, if that is not inserted yet.
  private func set(
    _ relationship: Relationship, to value: JSONToken, _ head: Head, _ reader: JSONReader
  ) throws {
    guard let object = head.object else { preconditionFailure("incomplete head") }
    // `{"$row":N}` is the form of a reference.
    let untagged = reader.untaggedObjects
    let found = try erasable(reader.value(value))
    reader.untaggedObjects = untagged
    guard let references = try references(found, relationship, reader) else {
      return deferred.append((object, relationship, found))
    }
    try transaction.draft.set(object, relationship.number, to: references)
    if references.isErased { try noteErased(relationship.number, head) }
  }

  /// Adds an attribute for a name that the entity does not have, and sets it; returns its number.
  /// Nil, and nothing is added, for null.
  private func setNew(
    _ property: ContiguousArray<UInt8>, to value: JSONToken, _ object: ObjectReference,
    _ plan: EntityPlan, _ reader: JSONReader
  ) throws -> PropertyNumber? {
    // A long text is not copied: the attribute is added for any text, and then has this one.
    let isLong = value == .string && reader.text.count > LargeValue.threshold
    let found: Value = try isLong ? .string("") : erasable(reader.value(value))
    if let reason = growth?.attribute(
      String(decoding: property, as: UTF8.self), current(plan.entity))
    {
      throw reader.fault(reason)
    }
    if found.isNull { return nil }
    let attribute = try addAttribute(property, found, plan, reader)
    if reader.isWithinString {
      try store(partsOf: reader, in: attribute, written: nil, object)
    } else {
      let value =
        try isLong
        ? transaction.draft.keep(reader.text, .string, in: attribute.number, of: object) : found
      try transaction.draft.set(object, attribute.number, to: value)
    }
    return attribute.number
  }
}

/// A set of numbers. Small ones take no heap memory.
private struct NumberSet {
  private var small: UInt64 = 0
  private var large: Set<PropertyNumber> = []

  /// Adds a number; returns whether it is new.
  mutating func insert(_ number: PropertyNumber) -> Bool {
    guard number < 64 else { return large.insert(number).inserted }
    defer { small |= 1 << UInt64(number) }
    return small & 1 << UInt64(number) == 0
  }
}
