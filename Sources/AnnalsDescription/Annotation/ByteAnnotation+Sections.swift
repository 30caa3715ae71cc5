import AnnalsFormat
import AnnalsModel

// Sections, which hold the columns of blocks and the parts of chunks: FORMAT.md, "Sections". Since
// the contents may be deflated, only their beginning is explained.

extension ByteAnnotation {
  /// The contents of a section.
  enum SectionContents {
    case integers, byteStrings, values, records
  }

  /// Explains one section; returns its contents if they can be read.
  @discardableResult
  func section(
    _ reader: inout FieldReader, _ name: String, of contents: SectionContents
  ) -> ContiguousArray<UInt8>? {
    let start = reader.offset
    let head = reader.varInt("length of \(name)") { head in
      let ways = ["as they are", "deflated", "of a later version", "of a later version"]
      return "\(head >> 2) bytes, \(ways[Int(head & 3)])"
    }
    guard head & 3 < 2 else {
      reader.fail(.newer(at: start, reason: "a compression"))
      return nil
    }
    reader.depth += 1
    defer { reader.depth -= 1 }
    let length = Int(clamping: head >> 2)
    if head & 3 == 0 {
      guard let bytes = reader.peek(length) else { return nil }
      reader.opaque(name, summary(of: bytes, contents), count: length)
      return ContiguousArray(bytes)
    }
    let stream = Int(clamping: reader.varInt("length of the deflate stream"))
    guard let deflated = reader.peek(stream) else { return nil }
    let inflated = try? Inflate.decompress(deflated, length: length, limit: reader.allowance)
    reader.allowance -= inflated?.count ?? 0
    let text =
      inflated?.withUnsafeBytes { summary(of: $0, contents) } ?? "a damaged deflate stream"
    reader.opaque(name, text.isEmpty ? "deflated" : "deflated, \(text)", count: stream)
    return inflated
  }

  /// The layout of the contents of a section.
  private func summary(of bytes: UnsafeRawBufferPointer, _ contents: SectionContents) -> String {
    guard let first = bytes.first else { return "" }
    switch contents {
    case .records: return ""
    case .integers:
      return IntegerColumn.Layout(rawValue: first).map { "integers, \($0)" } ?? ""
    case .byteStrings:
      let layouts = [
        "one after the other", "without shared beginnings", "distinct ones", "patterns and numbers",
      ]
      return first < layouts.count ? layouts[Int(first)] : ""
    case .values:
      if first == 0xFF { return "values of several kinds" }
      guard let tag = ValueTag(rawValue: first & 15 | (first & 64) >> 2) else { return "" }
      return "values of kind \(tag)" + (first & 16 != 0 ? ", as large values" : "")
        + (first & 32 != 0 ? ", as edits" : "")
    }
  }
}
