import AnnalsFormat
import AnnalsLog
import AnnalsModel

extension PortableTransaction: CustomStringConvertible {
  /// All that the transaction says, a line each: for people, and for comparing two readers of the
  /// form. Docs/Portable-transactions.md has an example.
  public var description: String {
    var lines = ["transaction \(number) of \(store)", "previous \(previous)", "digest \(digest)"]
    lines.append("date \(timestamp)")
    if let author = envelope.author { lines.append("author \(author)") }
    if let context = envelope.context { lines.append("context \(context)") }
    if let opening = envelope.opening {
      let id = String(opening.id, radix: 16)
      lines.append("opening \(id) of process \(opening.processID), \(opening.processName)")
    }
    if !features.isEmpty { lines.append("features \(features)") }
    for entry in envelope.metadata { lines.append("metadata \(entry.key) = \(entry.value.text)") }
    for item in ExtensionArea.items(of: envelope.extensions) {
      let bytes = item.bytes.withUnsafeBytes { Hex.text($0) }
      lines.append("extension \(item.tag): \(bytes)")
    }
    for change in envelope.schemaChange {
      let properties = change.definition.readableNames.joined(separator: ", ")
      lines.append(
        "\(change.isPartial ? "changes" : "defines") entity \(change.number), "
          + "\(change.definition.name)\(change.definition.isRemoved ? ", as removed" : "")"
          + (properties.isEmpty ? "" : ": \(properties)"))
    }
    for (index, value) in largeValues.enumerated() {
      lines.append("large value \(index + 1): \(value.tag), \(value.range.count) bytes")
    }
    for part in parts { lines += text(of: part) }
    return lines.joined(separator: "\n") + "\n"
  }

  private func text(of part: ChangeBatch) -> [String] {
    var lines: [String] = []
    part.arena.withUnsafeBytes { arena in
      for change in part.changes {
        let entity = names.entities.first { $0.number == change.entity }
        lines.append("\(change.kind) \(entity?.name ?? "") #\(change.row)")
        for property in part.properties[change.propertyRange] {
          let name = entity?.properties.first { $0.number == property.property }?.name ?? ""
          let before = property.text(of: property.before, in: arena)
          let after = property.text(of: property.after, in: arena)
          switch change.kind {
          case .insert: lines.append("  \(name): \(after)")
          case .delete: lines.append("  \(name): \(before)")
          case .update where property.isEdits:
            lines.append("  \(name): removes \(before), inserts \(after)")
          case .update: lines.append("  \(name): \(before) -> \(after)")
          }
        }
      }
    }
    return lines
  }
}

extension PropertyChange {
  fileprivate func text(of cell: ValueCell, in arena: UnsafeRawBufferPointer) -> String {
    guard isEdits else { return cell.value(in: arena).text }
    let edits = ListEdit.list(in: cell.bytes(in: arena)).map {
      "\($0.position): \($0.reference.entity)#\($0.reference.row)"
    }
    return "[\(edits.joined(separator: ", "))]"
  }
}

extension Entity {
  fileprivate var readableNames: [String] {
    attributes.map { "\($0.number) \($0.name)" } + relationships.map { "\($0.number) \($0.name)" }
      + indexes.map { "\($0.number) \($0.name)" }
  }
}

extension Value {
  fileprivate var text: String {
    switch self {
    case .null, .erased: "\(tag)"
    case .object(let object): "object \(object.entity)#\(object.row)"
    case .objects(let list):
      "objects [\(list.map { "\($0.entity)#\($0.row)" }.joined(separator: ", "))]"
    case .large(let value):
      value.number == 0
        ? "large \(tag) of \(value.length) bytes, crc32 \(value.checksum)"
        : "large value \(value.number)"
    default: "\(tag) \(plainText)"
    }
  }
}
