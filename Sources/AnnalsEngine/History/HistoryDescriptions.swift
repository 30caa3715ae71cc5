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
  /// Kind, object, and the other properties with their values, on one line: `insert Account/a1
  /// balance 1000000`, `update Account#1 balance 1000000 → 900000`. Names the object by its key if
  /// the change contains it. Long texts are cut.
  public var description: String {
    let entity = entity
    var name = ObjectName(entity: entity.name, key: .null, row: objectID.row)
    let key = entity.keyAttribute.flatMap { difference(of: $0.number) }
    if let key { name.key = kind == .insert ? key.after : key.before }
    let others = properties.filter { kind == .update || $0.number != key?.number }
    let values = others.map { "\($0.name) \($0.valueText(of: kind))" }
    return (["\(kind) \(name.text)"] + [values.joined(separator: ", ")]).filter { !$0.isEmpty }
      .joined(separator: " ")
  }
}
