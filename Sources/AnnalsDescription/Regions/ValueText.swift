import AnnalsInspection
import AnnalsModel

/// Formats values as one line of text. Long values are cut.
package enum ValueText {
  /// The greatest numbers of bytes of data and references of a list shown.
  static let maximumBytes = 32
  static let maximumReferences = 8

  /// The text of a cell, whose range in the arena the decoder has checked.
  package static func text(
    _ cell: ValueCell, in arena: UnsafeRawBufferPointer, isEdits: Bool = false,
    vocabulary: Vocabulary
  ) -> String {
    if isEdits, cell.tag == .objects, !cell.isLarge {
      return edits(UnsafeRawBufferPointer(rebasing: arena[cell.arenaRange]), vocabulary)
    }
    return text(cell.value(in: arena), vocabulary: vocabulary)
  }

  /// The text of a value.
  package static func text(_ value: Value, vocabulary: Vocabulary) -> String {
    switch value {
    case .null: "null"
    case .erased: "(erased)"
    case .bool(let bool): bool ? "true" : "false"
    case .int(let int): "\(int)"
    case .double(let double): "\(double)"
    case .string(let text), .url(let text), .json(let text):
      QuotedText.short(text)
    case .date(let date): date.description
    case .uuid(let uuid): uuid.description
    case .decimal(let number): number.description
    case .day(let day): day.description
    case .data(let bytes): bytes.withUnsafeBytes { data($0) }
    case .object(let reference): self.reference(reference, vocabulary)
    case .objects(let list):
      "[" + list.prefix(maximumReferences).map { reference($0, vocabulary) }.joined(separator: ", ")
        + more(list.count - maximumReferences) + "]"
    case .large(let large):
      "\(large.tag) of \(large.length) bytes (large value \(large.number), "
        + "crc32 \(Hex.text(large.checksum)))"
    }
  }

  private static func reference(_ reference: ObjectReference, _ vocabulary: Vocabulary) -> String {
    "\(vocabulary.entityText(reference.entity))#\(reference.row)"
  }

  private static func edits(_ list: UnsafeRawBufferPointer, _ vocabulary: Vocabulary) -> String {
    let count = list.count / PropertyChange.editByteCount
    let shown = (0..<min(count, maximumReferences)).map { index in
      let edit = ListEdit(bytes: list, at: index * PropertyChange.editByteCount)
      return "at \(edit.position) \(reference(edit.reference, vocabulary))"
    }
    return "(" + shown.joined(separator: ", ") + more(count - maximumReferences) + ")"
  }

  private static func data(_ bytes: UnsafeRawBufferPointer) -> String {
    let shown = UnsafeRawBufferPointer(rebasing: bytes.prefix(maximumBytes))
    return "\(bytes.count) bytes" + (bytes.isEmpty ? "" : " " + Hex.text(shown))
      + (bytes.count > maximumBytes ? "…" : "")
  }

  private static func more(_ count: Int) -> String { count > 0 ? ", … \(count) more" : "" }
}
