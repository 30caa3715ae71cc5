import Annals
import AnnalsModel

extension JSONWriter {
  /// Writes the value of an attribute; null for a large one whose bytes were lost. A large one is
  /// written as it is read, a piece at a time, and `flush` may take the bytes written so far.
  package mutating func value(
    _ value: Value, as type: AttributeType, from source: any LargeValueSource,
    _ flush: (inout JSONWriter) throws -> Void
  ) throws {
    guard case .large(let large) = value else { return self.value(value, as: type) }
    let form = large.form(as: type)
    var text = LargeValueText(large, escaping)
    var hasBegun = false
    let isThere = try source.forEachPiece(of: large) { piece in
      if !hasBegun { verbatim(form.start.utf8) }
      hasBegun = true
      text.append(piece, to: &bytes)
      if bytes.count >= 1 << 16 { try flush(&self) }
    }
    guard isThere, hasBegun else { return null() }
    text.appendRest(to: &bytes)
    bytes.append(contentsOf: form.end.utf8)
  }
}
