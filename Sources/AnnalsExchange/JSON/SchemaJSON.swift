import AnnalsModel

// A schema as JSON: printed by `annals schema`, read by `--schema`.
//
//     {"entities":[
//       {"name":"Post","number":1,"display":"title",
//        "attributes":[
//          {"name":"id","number":1,"type":"string","optional":false,"unique":true},
//          {"name":"title","number":2,"type":"string","maximumLength":80}],
//        "relationships":[{"name":"tags","number":3,"to":"Tag","toMany":true,"ordered":true}],
//        "indexes":[{"name":"byTitle","number":4,"on":[{"property":"title","descending":true}],
//          "where":[{"property":"title","is":"!=","value":null}]}]}]}
//
// Numbers may be left out in input; then the store assigns them. Other members that are left out
// have defaults: properties are optional, everything else is off. Writing and reading a schema
// gives the same schema, with removed entities and properties, and the next free number.

/// Writes schemas as JSON.
package enum SchemaJSON {
  /// The schema on several lines, one for each property.
  package static func text(_ schema: Schema) -> String {
    String(decoding: lines(schema, between: "\n", indent: "  "), as: UTF8.self) + "\n"
  }

  /// The schema on one line, without a line feed.
  package static func line(_ schema: Schema) -> ContiguousArray<UInt8> {
    lines(schema, between: "", indent: "")
  }

  private static func lines(
    _ schema: Schema, between newLine: String, indent: String
  ) -> ContiguousArray<UInt8> {
    var text = ContiguousArray<UInt8>("{\"entities\":[".utf8)
    for (index, entity) in schema.entities.enumerated() {
      text.append(contentsOf: "\(index == 0 ? "" : ",")\(newLine)\(indent)".utf8)
      var head = JSONWriter()
      head.beginObject()
      write(headOf: entity, to: &head)
      text.append(contentsOf: head.bytes)
      let lists = [
        ("attributes", entity.attributes.map { object(of: $0) }),
        ("relationships", entity.relationships.map { object(of: $0, schema) }),
        ("indexes", entity.indexes.filter(\.isKnown).map { object(of: $0, entity) }),
      ]
      for (name, items) in lists where !items.isEmpty {
        text.append(
          contentsOf: ",\(newLine)\(indent)\(newLine.isEmpty ? "" : " ")\"\(name)\":[".utf8)
        for (index, item) in items.enumerated() {
          let comma = index == 0 ? "" : ","
          text.append(contentsOf: "\(comma)\(newLine)\(indent)\(indent)".utf8)
          text.append(contentsOf: item)
        }
        text.append(UInt8(ascii: "]"))
      }
      text.append(UInt8(ascii: "}"))
    }
    text.append(contentsOf: "]}".utf8)
    return text
  }

  /// Writes the members of an entity besides its lists. `explicit` writes the next number where it
  /// follows from the numbers in use, too.
  static func write(headOf entity: Entity, to json: inout JSONWriter, explicit: Bool = false) {
    json.member("name", entity.name)
    if entity.number > 0 { json.member("number", Int64(entity.number)) }
    if let display = entity.displayName { json.member("display", display) }
    json.flag("removed", entity.isRemoved)
    if explicit || entity.nextPropertyNumber > entity.highestPropertyNumber + 1 {
      json.member("nextNumber", Int64(entity.nextPropertyNumber))
    }
    if entity.madeEdits.isEmpty { return }
    json.beginArray("edits")
    for edit in entity.madeEdits {
      json.beginArray()
      for word in ["\(edit.kind)"] + edit.names { json.string(word) }
      json.endArray()
    }
    json.endArray()
  }

  static func object(of attribute: Attribute) -> ContiguousArray<UInt8> {
    var json = JSONWriter()
    json.beginObject()
    json.member("name", attribute.name)
    if attribute.number > 0 { json.member("number", Int64(attribute.number)) }
    json.member("type", "\(attribute.type)")
    if !attribute.isOptional { json.member("optional", false) }
    if let value = attribute.defaultValue { json.member("default", value, as: attribute.type) }
    json.flag("unique", attribute.isUnique)
    json.flag("preservedAfterDeletion", attribute.isPreservedAfterDeletion)
    let rules = attribute.validation
    if let value = rules.minimum { json.member("minimum", value, as: attribute.type) }
    if let value = rules.maximum { json.member("maximum", value, as: attribute.type) }
    if let length = rules.minimumLength { json.member("minimumLength", length) }
    if let length = rules.maximumLength { json.member("maximumLength", length) }
    if !rules.oneOf.isEmpty {
      json.beginArray("oneOf")
      for value in rules.oneOf { json.value(value, as: attribute.type) }
      json.endArray()
    }
    json.flag("removed", attribute.isRemoved)
    json.endObject()
    return json.bytes
  }

  /// The relationship as JSON. `explicit` writes the number of the destination besides its name.
  static func object(
    of relationship: Relationship, _ schema: Schema, explicit: Bool = false
  ) -> ContiguousArray<UInt8> {
    var json = JSONWriter()
    json.beginObject()
    json.member("name", relationship.name)
    if relationship.number > 0 { json.member("number", Int64(relationship.number)) }
    // Without a number, only the name is known.
    let destination =
      relationship.destination == 0 ? nil : schema.entity(numbered: relationship.destination)
    json.member("to", destination?.name ?? relationship.destinationName)
    if !relationship.isOptional { json.member("optional", false) }
    json.flag("toMany", relationship.isToMany)
    json.flag("ordered", relationship.isOrdered)
    json.flag("removed", relationship.isRemoved)
    // A removed entity's name may be in use again; the number says which is meant.
    if let destination, explicit || destination.isRemoved {
      json.member("toNumber", Int64(destination.number))
    }
    json.endObject()
    return json.bytes
  }

  /// The index as JSON. `explicit` writes the numbers of its properties besides their names.
  static func object(
    of index: IndexDescription, _ entity: Entity, explicit: Bool = false
  ) -> ContiguousArray<UInt8> {
    var json = JSONWriter()
    json.beginObject()
    json.member("name", index.name)
    if index.number > 0 { json.member("number", Int64(index.number)) }
    json.beginArray("on")
    for element in index.elements {
      json.beginObject()
      let name = element.property == 0 ? nil : entity.propertyName(element.property)
      json.member("property", name ?? element.propertyName)
      // As for relationships: a removed property's name may be in use again.
      if let name, explicit || entity.propertyNumber(named: name) != element.property {
        json.member("number", Int64(element.property))
      }
      json.flag("descending", element.isDescending)
      if element.countsNullAsGreatest { json.member("nullsFirst", element.nullsFirst) }
      json.endObject()
    }
    json.endArray()
    json.flag("unique", index.isUnique)
    if let word = index.kind.word { json.flag(word, true) }
    if !index.tests.isEmpty {
      json.beginArray("where")
      for test in index.tests {
        json.beginObject()
        json.member("property", entity.propertyName(of: test))
        if explicit { json.member("number", Int64(test.property)) }
        json.member("is", test.comparison.description)
        json.member("value", test.value, as: .any)
        json.endObject()
      }
      json.endArray()
    }
    json.endObject()
    return json.bytes
  }
}

extension JSONWriter {
  /// Writes a member that is true; nothing for false.
  mutating func flag(_ name: String, _ value: Bool) {
    if value { member(name, true) }
  }
}

extension Entity {
  /// The highest number of the entity's properties and indexes; 0 if none has one.
  package var highestPropertyNumber: PropertyNumber {
    let numbers = attributes.map(\.number) + relationships.map(\.number) + indexes.map(\.number)
    return numbers.max() ?? 0
  }
}
