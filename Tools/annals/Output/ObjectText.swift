import Annals
import AnnalsExchange
import AnnalsInspector

/// Formats one object: its name, and below it a line for each property with a value.
struct ObjectText {
  private let text: TransactionText
  private let showing: ValueShowing

  init(_ text: TransactionText, _ showing: ValueShowing) {
    (self.text, self.showing) = (text, showing)
  }

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
      let label = "    \(name.padded(right: width))  "
      if try writeWhole(value, label, state.largeValues) { continue }
      let shown = try showing.shown(value, in: state)
      try text.output.line(label + text.values.text(shown))
    }
  }

  /// Writes a text that is still in the file, if all of it is wanted, as it is read; returns false,
  /// and writes nothing, for other values.
  private func writeWhole(
    _ value: Value, _ label: String, _ source: any LargeValueSource
  ) throws -> Bool {
    guard case .large(let large) = value, large.tag.isText, text.values.limit == .max else {
      return false
    }
    let quote = large.tag == .string ? "\"" : ""
    var escaped = LargeValueText(large, quote.isEmpty ? .line : .quoted)
    var bytes = ContiguousArray((label + quote).utf8)
    let isThere = try source.forEachPiece(of: large) { piece in
      escaped.append(piece, to: &bytes)
      try text.output.write(bytes)
      bytes.removeAll(keepingCapacity: true)
    }
    guard isThere else { return false }
    escaped.appendRest(to: &bytes)
    bytes.append(contentsOf: quote.utf8)
    try text.output.write(bytes)
    try text.output.line()
    return true
  }
}
