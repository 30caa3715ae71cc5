import AnnalsFormat

// Side records, field by field.

extension ByteAnnotation {
  /// The payload of a frame of this kind, a side record.
  func side(_ reader: inout FieldReader, of kind: FrameKind) {
    switch kind {
    case .consumerChange: consumer(&reader)
    case .retention: retention(&reader)
    default: break
    }
  }

  /// The payload of a retention frame.
  private func retention(_ reader: inout FieldReader) {
    let flags = reader.flags("flags", ["by age", "by count"])
    if flags & 1 != 0 { reader.varInt("microseconds for which history is kept") }
    if flags & 2 != 0 { reader.varInt("count of transactions that are kept") }
  }

  /// The payload of a consumer change.
  private func consumer(_ reader: inout FieldReader) {
    reader.string("name of the consumer")
    let flags = reader.flags("flags", ["removed", "blocking", "has a lease"])
    if flags & 1 != 0 { return }
    reader.string("kind of the consumer")
    reader.time("registered")
    reader.time("last seen")
    reader.varInt("has seen up to") { "transaction \($0)" }
    reader.id("id of the opening of that")
    if flags & 4 != 0 { reader.varInt("lease in microseconds") }
  }
}
