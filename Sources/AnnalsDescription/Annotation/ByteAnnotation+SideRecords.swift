import AnnalsFormat
import AnnalsInspection
import AnnalsModel

// Side records, field by field.

extension ByteAnnotation {
  /// The payload of a frame of this kind, a side record.
  func side(_ reader: inout FieldReader, of kind: FrameKind) throws(DecodeFault) {
    switch kind {
    case .consumerChange: try consumer(&reader)
    case .retention: try retention(&reader)
    default: break
    }
  }

  /// The payload of a retention frame.
  private func retention(_ reader: inout FieldReader) throws(DecodeFault) {
    let flags = try reader.byte("flags") { flagText($0, ["by age", "by count"]) }
    if flags & 1 != 0 { try reader.varInt("microseconds for which history is kept") }
    if flags & 2 != 0 { try reader.varInt("count of transactions that are kept") }
  }

  /// The payload of a consumer change.
  private func consumer(_ reader: inout FieldReader) throws(DecodeFault) {
    try reader.string("name of the consumer")
    let flags = try reader.byte("flags") { flagText($0, ["removed", "blocking", "has a lease"]) }
    if flags & 1 != 0 { return }
    try reader.string("kind of the consumer")
    try reader.zigzag("registered", text: ByteAnnotation.time)
    try reader.zigzag("last seen", text: ByteAnnotation.time)
    try reader.varInt("has seen up to") { "transaction \($0)" }
    try reader.fixed("id of the opening of that", UInt64.self) { String($0, radix: 16) }
    if flags & 4 != 0 { try reader.varInt("lease in microseconds") }
  }
}
