/// Tells whether bytes are one JSON text, as json attributes demand.
///
/// By RFC 8259, without a byte order mark; text must be UTF-8, escaped surrogates must be paired,
/// and nesting is bounded. Numbers may have any size and names may repeat: the text is kept as it
/// is, never interpreted.
package enum JSONValidator {
  /// Whether `bytes` are one JSON text with nothing but white space around it.
  package static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
    fault(in: bytes) == nil
  }

  /// What keeps `bytes` from being one JSON text, with its offset; nil if nothing does.
  package static func fault(in bytes: UnsafeRawBufferPointer) -> InputFault? {
    bytes.withMemoryRebound(to: UInt8.self) { memory in
      let reader = JSONReader(over: memory, keepsText: false)
      do throws(InputFault) {
        try reader.skip(reader.next())
        try reader.endDocument()
        return nil
      } catch {
        return error
      }
    }
  }
}
