import AnnalsFormat
import AnnalsInspection
import AnnalsModel

/// A dump for people: a line for each region with its fields below it, or a line for each field.
struct TextDump: DumpFormat {
  private static let bytesInRow = 8
  private static let nameWidth = 32
  private static let kindWidth = 18

  func lines(for region: RegionDescription, isHeading: Bool) -> String {
    let flags = region.flags.isEmpty ? "" : " (\(region.flags))"
    var verdicts: [String] = []
    if !region.checksum.isEmpty {
      verdicts.append(region.checksum == "ok" ? "checksum ok" : region.checksum)
    }
    if !region.chain.isEmpty { verdicts.append("chain \(region.chain)") }
    if let mark = region.durableMark { verdicts.append("synced to \(mark)") }
    let kind = right("\(region.kind)\(flags)", verdicts.isEmpty ? 0 : TextDump.kindWidth)
    let outline = ([kind] + verdicts.prefix(1)).joined(separator: "  ")
    let rest = verdicts.dropFirst().map { ", " + $0 }.joined()
    if isHeading {
      return (region.offset == 0 ? "" : "\n") + "\(region.offset), \(region.length) bytes: "
        + ([region.kind + flags] + verdicts).joined(separator: ", ") + "\n"
    }
    var text = left(region.offset, 12) + "  " + left(region.length, 10) + "  "
    text += outline + rest + "\n"
    for field in region.fields {
      text += String(repeating: " ", count: 26) + right(field.name, 18) + "  " + field.value + "\n"
    }
    return text
  }

  func lines(
    for field: AnnotatedField, bytes: UnsafeRawBufferPointer, in region: RegionDescription
  ) -> String {
    let indent = String(repeating: "  ", count: field.depth)
    let meaning =
      field.value.isEmpty
      ? indent + field.name : indent + right(field.name, TextDump.nameWidth) + "  " + field.value
    if field.isZeros, bytes.isEmpty || bytes.count > TextDump.bytesInRow {
      return line(field.offset, hex: "00 × \(field.length)", meaning)
    }
    var text = ""
    var done = 0
    while done < bytes.count {
      let row = bytes[done..<min(done + TextDump.bytesInRow, bytes.count)]
      let hex = row.map { byte in
        withUnsafeBytes(of: byte) { Hex.text($0) }
      }.joined(separator: " ")
      text += line(field.offset + UInt64(done), hex: hex, done == 0 ? meaning : "")
      done += TextDump.bytesInRow
    }
    return text
  }

  private func line(_ offset: UInt64, hex: String, _ meaning: String) -> String {
    let shown = meaning.isEmpty ? hex : right(hex, TextDump.bytesInRow * 3 - 1) + "  " + meaning
    return left(offset, 12) + "  " + shown + "\n"
  }

  private func left(_ number: UInt64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: " ", count: max(0, width - digits.utf8.count)) + digits
  }

  private func right(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
