import Annals
import AnnalsEngine
import AnnalsModel

extension Store {
  /// Makes edits as stores did before removals recorded the clears, and edits themselves: what is
  /// removed keeps its values and objects, hidden.
  package func editHiding(_ edits: SchemaEdit...) throws {
    _ = try commitTransaction(TransactionOrigin(context: "schema")) { tx in
      var changed = try tx.schema.adding(Schema(), edits: edits).changed
      for index in changed.indices { changed[index].extensions = [] }
      tx.draft.redefine(changed)
    }
  }
}
