import Annals
import AnnalsExchange
import AnnalsInspector

/// What reads typed dates and days.
typealias DateWords = (date: (String) -> Timestamp?, day: (String) -> CalendarDay?)

extension WriteTransaction {
  /// Inserts the object, or updates it if it exists.
  ///
  /// `words` read a typed date, and a typed day.
  ///
  /// - Throws: `CommandFailure` for what is not permitted, and for a text that is not a value of
  ///   its attribute; `InputFault`.
  func put(
    _ object: ObjectArgument, _ assignments: [Assignment],
    reading words: DateWords,
    permitting permissions: PutPermissions = PutPermissions()
  ) throws {
    var json = JSONWriter(escapingHidden: false)
    let entity = schema.entity(named: object.entity)
    try permissions.refuseUnknownEntity(object, entity, in: schema)
    json.beginObject()
    let row = try existingRow(object, entity)
    if row == nil { try permissions.refuseEmptyInsertion(of: object, assignments) }
    if let key = entity?.keyAttribute {
      try permissions.refuseEmptyKey(key, of: object, assignments)
    }
    if row == nil, entity == nil || entity?.keyAttribute != nil {
      try permissions.refuseTwoKeys(entity?.keyAttribute, of: object, assignments)
    }
    json.member("op", row == nil ? "insert" : "update")
    json.member("entity", object.entity)
    if let row {
      json.member("row", row)
    } else if case .key(_, let key) = object {
      json.member("id", key)
    }
    json.beginObject("set")
    for assignment in assignments {
      if let entity { try permissions.refuseDerived(assignment.name, of: entity, in: schema) }
      if let entity, assignment.content != .nothing {
        try permissions.refuseMistyped(assignment.name, of: entity)
      }
      json.key(assignment.name)
      switch assignment.content {
      case .nothing:
        guard entity?.propertyNumber(named: assignment.name) != nil else {
          let near = NearName.hint(assignment.name, among: entity?.propertyNames ?? [])
          throw CommandFailure(
            "\(object.entity) has no property \(assignment.name) to clear\(near); annals schema "
              + "FILE lists what it has")
        }
        json.null()
      case .json(let text):
        if entity?.attribute(named: assignment.name)?.type == .json {
          // The value of a json attribute is the text itself.
          json.string(text)
        } else {
          json.verbatim(text.utf8)
        }
      case .text(let text): try write(text, to: assignment.name, of: entity, words, &json)
      }
    }
    json.endObject()
    json.endObject()
    try apply(change: json.bytes, growth: permissions.growthByPut)
  }

  /// Writes a typed text as the value of a property.
  private func write(
    _ text: String, to name: String, of entity: Entity?, _ words: DateWords,
    _ json: inout JSONWriter
  ) throws {
    guard let entity, let attribute = entity.attribute(named: name) else {
      guard let relationship = entity?.relationship(named: name), !relationship.isToMany else {
        return json.string(text)
      }
      return try write(reference: text, relationship, &json)
    }
    guard let value = attribute.type.value(typed: text, words) else {
      throw CommandFailure(
        "\(entity.name).\(name) is of type \(attribute.type), and `\(text)` is no such value"
          + attribute.type.form(ofTyped: text))
    }
    json.value(value, as: attribute.type)
  }

  /// Writes a typed reference: a key, or an OBJECT of the relationship's destination.
  private func write(
    reference text: String, _ relationship: Relationship, _ json: inout JSONWriter
  ) throws {
    guard let destination = schema.entity(numbered: relationship.destination),
      let argument = try? ObjectArgument(text),
      argument.entity.hasSameBytes(as: destination.name),
      // A key may look like an OBJECT.
      (try? ObjectArgument.key(entity: destination.name, key: text).lookUp(in: reader)) == nil,
      let found = try argument.lookUp(in: reader)
    else { return json.string(text) }
    try json.references(.object(found), in: reader)
  }

  /// The row to update; nil if the object is to be inserted.
  private func existingRow(_ object: ObjectArgument, _ entity: Entity?) throws -> Int64? {
    if case .row(_, let row) = object { return row }
    guard let entity, entity.keyAttribute != nil else { return nil }
    return try object.lookUp(in: reader)?.row
  }
}

extension AttributeType {
  /// The value of a typed text: as `value(fromText:)`, but dates and days are read by `words`.
  fileprivate func value(typed text: String, _ words: DateWords) -> Value? {
    switch self {
    case .date: words.date(text).map { .date($0) }
    case .day: words.day(text).map { .day($0) }
    default: value(fromText: text)
    }
  }

  /// How a value of this type is typed, for messages that refuse this text; empty if obvious.
  fileprivate func form(ofTyped text: String) -> String {
    if self == .day { return "; write 2019-10-22 or today" }
    guard self == .date, !WrittenDate.looksLong(text) else { return form(for: text) }
    return "; write 2019-10-22, \"2019-10-22 20:15\", 2019-10-22T18:15:04Z or now"
  }
}
