import AnnalsEngine
import AnnalsModel

// Short descriptions of transactions and changes, for printing.

extension Transaction: CustomStringConvertible {
  /// Number, timestamp, author, context and a summary: `transaction 5  2026-11-21T02:50:56Z  ann: 2
  /// changes`.
  public var description: String {
    let record = page.batch.transactions[index]
    var text = "transaction \(number)  \(record.timestamp)"
    if let author { text += "  \(author)" }
    if let context { text += " · \(context)" }
    text += ": \(changes.count) \(changes.count == 1 ? "change" : "changes")"
    if !schemaChange.isEmpty { text += " and the schema" }
    return text
  }
}

extension Change: CustomStringConvertible {
  /// Kind, object, and properties with their values: `update Post#3, title: string("Fog") →
  /// string("Mist")`. Names the object by its key if the change contains it.
  public var description: String {
    let entity = entity
    var name = ObjectName(entity: entity.name, key: .null, row: objectID.row)
    if let key = entity.keyAttribute, let difference = difference(of: key.number) {
      name.key = kind == .insert ? difference.after : difference.before
    }
    return (["\(kind) \(name.text)"] + properties.map(\.description)).joined(separator: ", ")
  }
}
