import AnnalsModel
import Foundation

/// The text of a large value on its way into a string of JSON, a piece at a time: escaped text, or
/// base64. The result does not depend on where the pieces end.
package struct LargeValueText {
  private let isData: Bool
  private let escaping: TextEscaping
  /// The bytes that are written with the next piece.
  private var rest: ContiguousArray<UInt8> = []

  package init(_ value: LargeValue, _ escaping: TextEscaping) {
    isData = value.tag == .data
    self.escaping = escaping
  }

  /// Appends what is complete with the next piece.
  package mutating func append(
    _ piece: UnsafeRawBufferPointer, to bytes: inout ContiguousArray<UInt8>
  ) {
    guard !rest.isEmpty else { return appendWhole(piece, &bytes) }
    let whole = rest + piece
    whole.withUnsafeBytes { appendWhole($0, &bytes) }
  }

  /// Appends what is left after the last piece.
  package mutating func appendRest(to bytes: inout ContiguousArray<UInt8>) {
    let last = rest
    rest = []
    last.withUnsafeBytes { write($0, &bytes) }
  }

  private mutating func appendWhole(
    _ whole: UnsafeRawBufferPointer, _ bytes: inout ContiguousArray<UInt8>
  ) {
    let end = isData ? whole.count / 3 * 3 : LargeValueText.textEnd(whole)
    write(UnsafeRawBufferPointer(rebasing: whole[..<end]), &bytes)
    rest = ContiguousArray(whole[end...])
  }

  private func write(_ whole: UnsafeRawBufferPointer, _ bytes: inout ContiguousArray<UInt8>) {
    if isData {
      bytes.append(contentsOf: Data(whole).base64EncodedData())
    } else {
      escaping.append(whole, to: &bytes)
    }
  }

  /// Where text can be cut: between two characters of which neither or both are joiners, since how
  /// a joiner is written depends on its neighbours.
  private static func textEnd(_ text: UnsafeRawBufferPointer) -> Int {
    // The last four characters suffice, however long they are.
    var index = max(0, text.count - 20)
    while index > 0, text[index] & 0xC0 == 0x80, index > text.count - 24 { index -= 1 }
    let complete = text.count - HiddenCharacters.incompleteEnd(of: text)
    var end = index
    var previous: UInt32?
    while index < complete {
      let next = HiddenCharacters.scan(text, at: index)
      if let previous, isJoiner(previous) == isJoiner(next.scalar) { end = index }
      previous = next.scalar
      index += next.length
    }
    return end
  }

  private static func isJoiner(_ scalar: UInt32) -> Bool { scalar == 0x200C || scalar == 0x200D }
}
