import AnnalsModel

/// Formats values as one line of text. Long values are cut.
package enum ValueText {
  /// The greatest numbers of Unicode scalars of text, bytes of data and references of a list shown.
  static let maximumLength = 80
  static let maximumBytes = 32
  static let maximumReferences = 8

  /// The text of a cell, whose range in the arena the decoder has checked.
  package static func text(
    _ cell: ValueCell, in arena: UnsafeRawBufferPointer, isEdits: Bool = false,
    vocabulary: Vocabulary
  ) -> String {
    if cell.tag == .objects, !cell.isLarge {
      let list = UnsafeRawBufferPointer(rebasing: arena[cell.arenaRange])
      return isEdits ? edits(list, vocabulary) : references(list, vocabulary)
    }
    if cell.tag == .data, !cell.isLarge {
      return data(UnsafeRawBufferPointer(rebasing: arena[cell.arenaRange]))
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

  private static func references(
    _ list: UnsafeRawBufferPointer, _ vocabulary: Vocabulary
  ) -> String {
    let count = list.count / ObjectReference.byteCount
    let shown = (0..<min(count, maximumReferences)).map {
      reference(ObjectReference(bytes: list, at: $0 * ObjectReference.byteCount), vocabulary)
    }
    return "[" + shown.joined(separator: ", ") + more(count - maximumReferences) + "]"
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

/// Formats text in quotation marks, on one line.
package enum QuotedText {
  /// The text with hidden characters, quotation marks and backslashes escaped as in JSON. Text over
  /// `maximumLength` scalars is cut, and followed by its length in bytes.
  package static func text(_ text: String, maximumLength: Int = .max) -> String {
    let scalars = text.unicodeScalars
    let end =
      scalars.index(
        scalars.startIndex, offsetBy: maximumLength, limitedBy: scalars.endIndex)
      ?? scalars.endIndex
    let shown = TextEscaping.json.text(String(scalars[..<end]))
    return end == scalars.endIndex ? "\"\(shown)\"" : "\"\(shown)…\" (\(text.utf8.count) bytes)"
  }

  /// The text, cut to what a line of a dump shows.
  static func short(_ text: String) -> String {
    self.text(text, maximumLength: ValueText.maximumLength)
  }
}

/// Formats bytes and checksums in hexadecimal.
package enum Hex {
  private static let digits = Array("0123456789abcdef".utf8)

  /// Two digits for each byte, without spaces.
  package static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
      for (index, byte) in bytes.enumerated() {
        buffer[index * 2] = digits[Int(byte >> 4)]
        buffer[index * 2 + 1] = digits[Int(byte & 15)]
      }
      return bytes.count * 2
    }
  }

  /// Eight digits.
  package static func text(_ checksum: UInt32) -> String {
    withUnsafeBytes(of: checksum.bigEndian) { text($0) }
  }
}
