import AnnalsFormat
import AnnalsInspection

// The kinds of field.
extension FieldReader {
  @discardableResult
  mutating func varInt(_ name: String, text: (UInt64) -> String = { "\($0)" }) -> UInt64 {
    field(name, text: text) { reader throws(DecodeFault) in try reader.readVarInt() } ?? 0
  }

  @discardableResult
  mutating func zigzag(_ name: String, text: (Int64) -> String = { "\($0)" }) -> Int64 {
    field(name, text: text) { reader throws(DecodeFault) in try reader.readZigzag() } ?? 0
  }

  @discardableResult
  mutating func fixed<T: FixedWidthInteger & BitwiseCopyable>(
    _ name: String, _ type: T.Type, text: (T) -> String = { "\($0)" }
  ) -> T {
    field(name, text: text) { reader throws(DecodeFault) in try reader.read(type) } ?? 0
  }

  @discardableResult
  mutating func byte(_ name: String, text: (UInt8) -> String = { "\($0)" }) -> UInt8 {
    fixed(name, UInt8.self, text: text)
  }

  /// A byte of flags, with the names of those that are set.
  @discardableResult
  mutating func flags(_ name: String, _ names: [String]) -> UInt8 {
    byte(name) { flags in
      var parts = names.indices.filter { flags & 1 << UInt8($0) != 0 }.map { names[$0] }
      if Int(flags) >> names.count != 0 { parts.append("unknown flags") }
      return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }
  }

  /// A timestamp as a zigzag integer.
  @discardableResult
  mutating func time(_ name: String) -> Int64 { zigzag(name, text: ByteAnnotation.time) }

  /// The random id of an opening.
  mutating func id(_ name: String) {
    fixed(name, UInt64.self) { String($0, radix: 16) }
  }

  /// A length and as many bytes of text, as one field.
  mutating func string(_ name: String) {
    field(name, text: QuotedText.short) { reader throws(DecodeFault) in try reader.readString() }
  }

  /// `count` bytes without fields of their own.
  mutating func opaque(_ name: String, _ value: String = "", count: Int) {
    let start = offset
    if skip(count) != nil { run(name, value, from: start, count: count) }
  }

  /// A length, and as many bytes without fields of their own.
  mutating func sizedBytes(_ lengthName: String, _ name: String) {
    let length = varInt(lengthName)
    opaque(name, count: Int(clamping: length))
  }

  /// Bytes that should be zeros, as one field if they are.
  mutating func zeros(_ name: String, count: Int) {
    let start = offset
    guard let run = skip(count), count > 0 else { return }
    guard run.isZero else {
      return self.run(name, "should be zeros", from: start, count: count)
    }
    emitField(start, count, name, "zeros", isZeros: true)
  }

  /// The next `count` bytes, which `read` explains one level deeper; `name` is for those that it
  /// leaves.
  mutating func part(
    of count: Int, leaving name: String, _ read: (inout FieldReader) -> Void
  ) {
    let start = origin + UInt64(offset)
    guard let bytes = skip(count) else { return }
    var inner = FieldReader(bytes, at: start, depth: depth + 1, emit: emit)
    read(&inner)
    inner.end(name)
  }

  /// A length, and as many bytes, which `read` explains. A later version wrote those that it
  /// leaves.
  mutating func sized(_ name: String, _ read: (inout FieldReader) -> Void) {
    let length = varInt(name)
    part(of: Int(clamping: length), leaving: "of a later version", read)
  }

  /// A count, and as many items, one level deeper. An item that reads nothing ends the list: a
  /// later version wrote the rest.
  mutating func list(_ name: String, _ item: (inout FieldReader) -> Void) {
    // The count need not be trusted: reading items fails where bytes end.
    let count = varInt(name)
    depth += 1
    var index: UInt64 = 0
    while index < count, fault == nil {
      // Every item takes at least a byte, so a wrong count ends with the bytes.
      guard remaining > 0 else {
        return fail(.truncated(at: offset, needed: Int(clamping: count - index)))
      }
      let before = offset
      item(&self)
      if offset == before { break }
      index += 1
    }
    depth -= 1
  }

  /// An extension area. `known` names the tags from 1 on.
  mutating func extensions(_ known: [String] = []) {
    sized("length of the extension area") { reader in
      while reader.remaining > 0 {
        let tag = reader.varInt("tag") { tag in
          tag > 0 && tag <= known.count ? "\(tag), \(known[Int(tag) - 1])" : "\(tag), not known"
        }
        reader.sizedBytes("length of item \(tag)", "item \(tag)")
      }
    }
  }
}
