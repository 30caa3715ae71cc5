import Annals

/// Formats one object: its name, and below it a line for each property with a value.
struct ObjectText {
  private let text: TransactionText

  init(_ text: TransactionText) { self.text = text }

  /// Writes an object of the state.
  func write(_ object: DynamicObject, _ state: StateReader) throws {
    let id = object.objectID
    let reference = ObjectReference(entity: id.entity, row: id.row)
    let name = ValueText.plain(try state.name(of: reference).text)
    try text.output.line(name, .bold)
    let properties = object.values.map { property, value in
      (ValueText.plain(object.entity.propertyName(property) ?? "#\(property)"), value)
    }
    let width = properties.map(\.0.cells).max() ?? 0
    for (name, value) in properties {
      let shown = try text.text(value) { () throws(AnnalsError) in state }
      try text.output.line("    \(name.padded(right: width))  \(shown)")
    }
  }
}
