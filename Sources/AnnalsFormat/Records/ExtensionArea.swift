/// The tagged area at the end of a transaction's details, of a checkpoint's directory and of an
/// entity's definition, for what later versions add: items of tag, length and bytes, tags rising.
/// Readers skip what they do not know, rewrites keep it as it is.
package enum ExtensionArea {
  /// Reads the area (a length and the items) and checks its structure; returns the items' bytes.
  package static func read(_ reader: inout ByteReader) throws(DecodeFault) -> ContiguousArray<UInt8>
  {
    let start = reader.offset
    let bytes = try reader.readSizedBytes()
    var items = ByteReader(bytes)
    var last: UInt64?
    while items.remaining > 0 {
      let tag = try items.readVarInt()
      if let last, tag <= last { throw .invalid(at: start, reason: "extensions out of order") }
      last = tag
      _ = try items.readSizedBytes()
    }
    return ContiguousArray(bytes)
  }

  /// Appends the area.
  package static func append(
    _ items: ContiguousArray<UInt8>, to bytes: inout ContiguousArray<UInt8>
  ) {
    items.withUnsafeBytes { bytes.append(sized: $0) }
  }
}
