import AnnalsFormat
import AnnalsModel

// Objects by names and values. Only values of the right kind can be stored; rules are checked once,
// when the draft is committed (`ChangeValidation`).

extension Draft {
  /// Inserts an object with these values; attributes not given get their default.
  ///
  /// If it throws, nothing is inserted, and the draft may go on.
  package mutating func insert(
    _ entity: Entity, _ values: [String: Value]
  ) throws(AnnalsError) -> ObjectReference {
    let object = try insert(entity: entity)
    let violationCount = violations.count
    do throws(AnnalsError) {
      for (property, value) in assignments(values, to: entity, row: object.row) {
        try store(value, in: property, row: object.row, of: entity.number)
      }
    } catch {
      undoInsertion(of: object, violationCount: violationCount)
      throw error
    }
    return object
  }

  /// Sets properties of an object that exists; a null value clears one.
  ///
  /// If it throws, nothing is changed, and the draft may go on.
  package mutating func update(
    _ row: Int64, of entity: Entity, _ values: [String: Value]
  ) throws(AnnalsError) {
    let violationCount = violations.count
    // Large values first: if storing them fails, nothing has changed.
    var kept: [(property: PropertyNumber, value: Value)] = []
    do throws(AnnalsError) {
      for (property, value) in assignments(values, to: entity, row: row) {
        let value = try normalised(value, of: property, of: entity, row: row)
        kept.append((property, try self.kept(value, in: property, row: row, of: entity.number)))
      }
    } catch {
      violations.removeLast(violations.count - violationCount)
      throw error
    }
    for (property, value) in kept {
      try put(value, in: property, row: row, of: entity.number)
      noteAssignment(of: property, row: row, of: entity.number)
    }
    touch(entity.number, row)
  }

  /// The storable values, by rising property number. Values that cannot be stored are noted, and
  /// the transaction fails at its end with all violations.
  private mutating func assignments(
    _ values: [String: Value], to entity: Entity, row: Int64
  ) -> [(PropertyNumber, Value)] {
    var result: [(PropertyNumber, Value)] = []
    result.reserveCapacity(values.count)
    var found: [ValidationViolation] = []
    var places: ContiguousArray<Int> = []
    swap(&places, &likelyPlaces)
    defer { swap(&places, &likelyPlaces) }
    places.reserveCapacity(values.count)
    for (index, (name, value)) in values.enumerated() {
      if index == places.count { places.append(0) }
      if let place = entity.place(ofAttribute: name, likely: places[index]) {
        places[index] = place
        if let number = entity.number(ofAttributeAt: place, admitting: value) {
          result.append((number, value))
          continue
        }
      } else if let relationship = entity.relationship(named: name), relationship.admits(value) {
        result.append((relationship.number, value))
        continue
      }
      let key = entity.keyAttribute.flatMap { values[$0.name]?.keyText }
      found.append(
        ValidationViolation(
          entity: entity.name, key: key, object: ObjectReference(entity: entity.number, row: row),
          property: name, rule: rule(against: value, of: name, in: entity), value: value))
    }
    violations += found.sorted { $0.property.precedesInBytes($1.property) }
    return result.sorted { $0.0 < $1.0 }
  }

  /// Which rule forbids the value that a property of this name does not admit.
  private func rule(
    against value: Value, of name: String, in entity: Entity
  ) -> ValidationRule {
    if let attribute = entity.attribute(named: name) {
      return attribute.derivation.map { .derived("\(schema.naming($0, of: entity))") }
        ?? .type(attribute.type)
    }
    return entity.relationship(named: name).map { .relationship(isToMany: $0.isToMany) }
      ?? .knownProperty
  }
}

extension Value {
  /// The bytes, if they are too many for a record; nil for other values.
  package var largeBytes: ContiguousArray<UInt8>? {
    switch self {
    case .string(let text), .url(let text), .json(let text):
      text.utf8.count > FormatLimits.largeValueThreshold ? ContiguousArray(text.utf8) : nil
    case .data(let bytes):
      bytes.count > FormatLimits.largeValueThreshold ? ContiguousArray(bytes) : nil
    default: nil
    }
  }
}
