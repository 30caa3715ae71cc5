import AnnalsModel

// What a transaction changes of a schema, as a line of an export has it:
//
//     {"entities":[{"name":"Post","number":1,"nextNumber":41,"partial":true,
//       "attributes":[{"name":"title","number":40,"type":"string"}],"droppedIndexes":[7]}]}
//
// An entity without `partial` is a whole definition. In a partial one the lists have only what is
// new or changed. Everything has its number, since names may mean what only the lines before
// define.

extension SchemaJSON {
  /// The changes on one line, without a line feed. `schema` is the schema after them.
  package static func line(_ changes: [EntityChange], in schema: Schema) -> ContiguousArray<UInt8> {
    text(of: changes, in: schema, explicit: true)
  }

  /// Reads the changes that begin with `token`.
  package static func readChanges(
    _ reader: JSONReader, _ token: JSONToken
  ) throws(InputFault) -> [EntityChange] {
    var changes: [EntityChange] = []
    try reader.members(token, of: "a change of a schema") { (name, value) throws(InputFault) in
      guard name == "entities" else { return false }
      changes = try list(reader, value, name, change)
      return true
    }
    var numbers: Set<EntityNumber> = []
    for change in changes {
      guard change.number > 0, numbers.insert(change.number).inserted else {
        throw reader.fault("\(change.definition.name) has no number of its own")
      }
      try checkNumbers(change.definition, reader)
    }
    return changes
  }

  /// Checks that everything in a definition is named by number.
  private static func checkNumbers(
    _ entity: Entity, _ reader: JSONReader
  ) throws(InputFault) {
    let isNumbered =
      entity.attributes.allSatisfy { $0.number > 0 && $0.derivation?.isNumbered != false }
      && entity.relationships.allSatisfy { $0.number > 0 && $0.destination > 0 }
      && entity.indexes.allSatisfy { index in
        index.number > 0 && index.elements.allSatisfy { $0.property > 0 }
          && index.tests.allSatisfy { $0.property > 0 }
      }
    guard isNumbered else { throw reader.fault("a change of \(entity.name) lacks a number") }
  }
}
