import Annals
import AnnalsModel

/// The schema of the store that lines come from, and its way into the store that they go into.
///
/// - Within a lineage (the exporting store itself, a copy of its file, a new store made of the
///   lines) a definition is adopted with its number, if what the store has under that number is
///   what the lines had before. So renames and removals come as they were.
/// - Everything else is matched by name. What the store lacks is added and widened as by opening it
///   with that schema; a rename is made by name. Nothing is removed, narrowed or renumbered.
/// - What cannot be reconciled is an error; then nothing has changed.
struct ImportedSchema {
  /// The schema of the exporting store as of the last line read; nil before any line has one.
  private(set) var exported: Schema?
  /// Removals in the lines that were not made in the store.
  private(set) var kept: [String] = []
  /// The exporting store; nil if the lines do not say.
  private var origin: RawUUID?
  /// The lines with a schema since the last transaction.
  private var lines: [Line] = []
  /// What a schema without numbers needs.
  private var needed = Schema()

  /// One line: what it changes, and the schema behind it.
  private struct Line {
    var steps: [SchemaMatch.Step] = []
    var schema: Schema
  }

  /// Whether the next transaction may change the schema.
  var isPending: Bool { !lines.isEmpty || !needed.entities.isEmpty }

  /// Takes the whole schema of a line.
  mutating func set(_ schema: Schema, of store: RawUUID?) {
    if let store { origin = store }
    guard schema.entities.allSatisfy({ $0.number > 0 }) else {
      needed = schema
      return
    }
    let after = Schema(entities: schema.entities.map(\.withoutRedundantNames))
    var line = Line(schema: after)
    for entity in after.entities {
      let before = exported?.entity(numbered: entity.number)
      if let before, before.isSame(as: entity) { continue }
      line.steps.append(SchemaMatch.Step(change: EntityChange(entity), before: before))
    }
    exported = after
    lines.append(line)
  }

  /// Takes what a line changes of the schema. Returns why it does not fit the lines before; nil if
  /// it does.
  mutating func add(_ changes: [EntityChange]) -> String? {
    guard var schema = exported else { return "no line before it has a schema" }
    exported = nil
    var steps: [SchemaMatch.Step] = []
    for change in changes {
      var change = change
      change.definition = change.definition.withoutRedundantNames
      let before = schema.entity(numbered: change.number)
      if let reason = change.misfit(before) { return reason }
      steps.append(SchemaMatch.Step(change: change, before: before))
      schema.apply([change])
    }
    exported = schema
    lines.append(Line(steps: steps, schema: schema))
    return nil
  }

  /// Brings the schema of a transaction up to that of the lines, apart from removals: the changes
  /// on the line may clear or delete what is removed. Returns the definitions that remove it, for
  /// the end of the transaction. `isNew` says that the store had no entities before the lines.
  /// Throws `.invalidSchema` with every reason.
  mutating func apply(
    to transaction: WriteTransaction, isNew: Bool
  ) throws(AnnalsError) -> [Entity] {
    if !needed.entities.isEmpty { try transaction.require(needed.asLoose(as: transaction.schema)) }
    let isLineage = isNew || origin == transaction.reader.store
    var removals: [Entity] = []
    for line in lines {
      transaction.draft.define(removals)
      let match = try SchemaMatch(line.steps, line.schema, in: transaction, isLineage: isLineage)
      do throws(AnnalsError) {
        try match.apply(to: transaction)
      } catch  where error.code == .invalidSchema {
        var refusal = error
        refusal.message =
          "the schema of these lines and that of the store do not fit together: "
          + error.schemaConflicts.map(\.description).joined(separator: "; ")
          + ". Import into a new file, or rename one of the two"
        throw refusal
      }
      kept += match.kept
      removals = match.removals
    }
    lines = []
    needed = Schema()
    return removals
  }
}

extension Entity {
  /// The definition with numbers alone where it refers to others by name and number, as a store
  /// has it.
  fileprivate var withoutRedundantNames: Entity {
    var result = self
    for place in attributes.indices where attributes[place].derivation?.isNumbered == true {
      result.attributes[place].derivation?.dropNames()
    }
    for place in relationships.indices where relationships[place].destination > 0 {
      result.relationships[place].destinationName = ""
    }
    for place in indexes.indices {
      result.indexes[place].updateReferences { name, _, _ in name = "" }
    }
    return result
  }

  /// Whether both are the same definition, with the same bytes in names.
  func isSame(as other: Entity) -> Bool {
    self == other && name.hasSameBytes(as: other.name)
      && zip(properties, other.properties).allSatisfy { $0.name.hasSameBytes(as: $1.name) }
      && zip(indexes, other.indexes).allSatisfy { $0.name.hasSameBytes(as: $1.name) }
  }
}
