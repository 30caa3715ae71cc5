import AnnalsModel

// A schema as JSON: printed by `annals schema --format json`, read by `--schema`.
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
    let bytes = text(of: schema.entities.map { EntityChange($0) }, in: schema, isMultiline: true)
    return String(decoding: bytes, as: UTF8.self) + "\n"
  }

  /// The schema on one line, without a line feed.
  package static func line(_ schema: Schema) -> ContiguousArray<UInt8> {
    text(of: schema.entities.map { EntityChange($0) }, in: schema)
  }

  /// The definitions as JSON. `explicit` writes numbers where they follow from names or from
  /// numbers in use, too.
  static func text(
    of changes: [EntityChange], in schema: Schema, explicit: Bool = false,
    isMultiline: Bool = false
  ) -> ContiguousArray<UInt8> {
    let (start, indent) = isMultiline ? ("\n  ", " ") : ("", "")
    var json = JSONWriter()
    json.beginObject()
    json.beginArray("entities")
    for change in changes {
      let definition = change.definition
      // Names that a partial definition refers to.
      let entity = schema.entity(numbered: change.number) ?? definition
      var object = JSONWriter()
      object.beginObject()
      write(headOf: definition, to: &object, explicit: explicit)
      object.flag("partial", change.isPartial)
      let lists = [
        (
          "attributes", definition.attributes.map { $0.named(in: schema, entity, explicit).members }
        ),
        ("relationships", definition.relationships.map { $0.named(in: schema, explicit).members }),
        (
          "indexes",
          definition.indexes.filter(\.isKnown).map { $0.named(in: entity, explicit).members }
        ),
      ]
      for (name, items) in lists where !items.isEmpty {
        object.key(quoted: ContiguousArray("\(start)\(indent)\"\(name)\":".utf8))
        object.beginArray()
        for item in items {
          var line = JSONWriter()
          line.definition(item)
          object.verbatim("\(start)\(indent)\(indent)".utf8 + line.bytes)
        }
        object.endArray()
      }
      if !change.droppedIndexes.isEmpty {
        object.beginArray("droppedIndexes")
        for number in change.droppedIndexes { object.int(Int64(number)) }
        object.endArray()
      }
      object.endObject()
      json.verbatim(start.utf8 + object.bytes)
    }
    json.endArray()
    json.endObject()
    return json.bytes
  }

  /// Writes the members of an entity besides its lists.
  private static func write(headOf entity: Entity, to json: inout JSONWriter, explicit: Bool) {
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
}

extension Attribute {
  /// The attribute with the names of what it is derived from; with the numbers only if they say
  /// more than the names, or if that is asked for.
  fileprivate func named(in schema: Schema, _ entity: Entity, _ explicit: Bool) -> Attribute {
    guard let derivation else { return self }
    var named = schema.naming(derivation, of: entity)
    let (numbered, problem) = schema.numbering(named, of: entity)
    if !explicit, problem == nil, numbered == derivation {
      (named.sourceEntity, named.source) = (0, 0)
      for place in named.inputs.indices { named.inputs[place].number = 0 }
    }
    var result = self
    result.derivation = named
    return result
  }
}

extension Relationship {
  /// The relationship with the name of its destination; with the number only if it says more than
  /// the name, or if that is asked for.
  fileprivate func named(in schema: Schema, _ explicit: Bool) -> Relationship {
    var result = self
    let target = destination == 0 ? nil : schema.entity(numbered: destination)
    if let target { result.destinationName = target.name }
    // A removed entity's name may be in use again; the number says which is meant.
    if target == nil || !explicit && target?.isRemoved == false { result.destination = 0 }
    return result
  }
}

extension IndexDescription {
  /// The index with the names of its properties, and numbers as above.
  fileprivate func named(in entity: Entity, _ explicit: Bool) -> IndexDescription {
    var result = self
    result.updateReferences { name, number, _ in
      let known = number == 0 ? nil : entity.propertyName(number)
      if let known { name = known }
      let isClear = !explicit && entity.propertyNumber(named: name) == number
      if isClear || known == nil { number = 0 }
    }
    return result
  }
}

extension JSONWriter {
  /// Writes a member that is true; nothing for false.
  mutating func flag(_ name: String, _ value: Bool) {
    if value { member(name, true) }
  }
}
