import AnnalsModel

/// The fields of a definition that are items of its extension area: a flag has no bytes, a whole
/// number is a zigzag varint, a word its place among the words from 1, a text its UTF-8.
package enum DefinitionItems {
  /// The area of a definition: its fields among items that are not known.
  static func area<D: Definition>(
    of definition: D, besides unknown: ContiguousArray<UInt8>
  ) -> ContiguousArray<UInt8> {
    var area = unknown
    for field in D.fields {
      guard let item = field.item, let content = field.content(definition) else { continue }
      area = ExtensionArea.adding(item.tag, bytes(of: content, field.form), to: area)
    }
    return area
  }

  /// Sets the fields that are in an area that `reader` has read. Returns the other items.
  static func adopt<D: Definition>(
    _ area: ContiguousArray<UInt8>, into definition: inout D, at reader: ByteReader
  ) throws(DecodeFault) -> ContiguousArray<UInt8> {
    try ExtensionArea.rest(of: area) { (tag, bytes) throws(DecodeFault) in
      guard let field = D.fields.first(where: { $0.item?.tag == tag }),
        let content = try content(of: bytes, field.form, at: reader)
      else { return false }
      field.set(&definition, content)
      return true
    }
  }

  /// What the items of a kind of definition are, by tag from 1.
  package static func meanings<D: Definition>(of kind: D.Type) -> [String] {
    let items = kind.fields.compactMap(\.item)
    return (0..<(items.map(\.tag).max() ?? 0)).map { place in
      items.first { $0.tag == place + 1 }?.meaning ?? "not known"
    }
  }

  private static func bytes(
    of content: FieldContent, _ form: FieldForm
  ) -> ContiguousArray<UInt8> {
    var bytes: ContiguousArray<UInt8> = []
    switch (content, form) {
    case (.whole(let number), _): bytes.append(zigzag: number)
    case (.text(let text), _): bytes.append(contentsOf: text.utf8)
    case (.word(let word), .word(let words, _)):
      bytes.append(UInt8(1 + (words.firstIndex { $0.hasSameBytes(as: word) } ?? 0)))
    case (.flag, _): break
    default: preconditionFailure("a field that no extension area holds")
    }
    return bytes
  }

  /// The content in the bytes of an item; nil for a word that only later versions know.
  private static func content(
    of bytes: ContiguousArray<UInt8>, _ form: FieldForm, at place: ByteReader
  ) throws(DecodeFault) -> FieldContent? {
    switch form {
    case .flag(let usual):
      guard bytes.isEmpty else { throw place.invalid("a flag of a definition with bytes") }
      return .flag(!usual)
    case .text:
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw place.invalid("text that is not UTF-8")
      }
      return .text(text)
    case .word(let words, _):
      guard bytes.count == 1 else { throw place.invalid("a word of a definition without its byte") }
      let code = Int(bytes[0])
      guard code > 0 else { throw place.invalid("a word of a definition that is none") }
      return code <= words.count ? .word(words[code - 1]) : nil
    case .whole:
      return .whole(try bytes.decoded { reader throws(DecodeFault) in try reader.readZigzag() })
    default: preconditionFailure("a field that no extension area holds")
    }
  }
}
