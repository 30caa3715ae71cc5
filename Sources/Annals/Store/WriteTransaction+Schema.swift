import AnnalsEngine
import AnnalsModel

extension WriteTransaction {
  /// Adds to the schema what it lacks of `schema`, in this transaction; first makes the given
  /// renames and removals, each once, as `Store.edit` does.
  ///
  /// Throws `.invalidSchema` with every reason; then nothing has changed.
  public func require(_ schema: Schema, edits: [SchemaEdit] = []) throws(AnnalsError) {
    let declarations = draft.records.bindings.declarations
    _ = try draft.require(schema, edits, timesDeclared: declarations.timesDeclared)
    declarations.note(edits)
  }
}
