import AnnalsFormat
import AnnalsInspection
import AnnalsModel

/// A dump for programs: one JSON object a line for each region, or for each field.
struct JSONLinesDump: DumpFormat {
  func lines(for region: RegionDescription, isHeading: Bool) -> String {
    // Each field names its region.
    if isHeading { return "" }
    var line = "{\"offset\":\(region.offset),\"length\":\(region.length),\"kind\":"
    line += QuotedText.text(region.kind)
    if !region.flags.isEmpty { line += ",\"flags\":" + QuotedText.text(region.flags) }
    if !region.checksum.isEmpty { line += ",\"checksum\":" + QuotedText.text(region.checksum) }
    if !region.chain.isEmpty { line += ",\"chain\":" + QuotedText.text(region.chain) }
    if let mark = region.durableMark { line += ",\"durableMark\":\(mark)" }
    line += ",\"ok\":\(!region.hasProblem)"
    if !region.fields.isEmpty {
      let fields = region.fields.map { field in
        let value = field.isNumber ? field.value : QuotedText.text(field.value)
        return "{\"name\":\(QuotedText.text(field.name)),\"value\":\(value)}"
      }
      line += ",\"fields\":[" + fields.joined(separator: ",") + "]"
    }
    return line + "}\n"
  }

  func lines(
    for field: AnnotatedField, bytes: UnsafeRawBufferPointer, in region: RegionDescription
  ) -> String {
    var line = "{\"offset\":\(field.offset),\"length\":\(field.length)"
    line += ",\"region\":\(region.offset),\"kind\":" + QuotedText.text(region.kind)
    line += ",\"depth\":\(field.depth),\"name\":" + QuotedText.text(field.name)
    if !field.value.isEmpty { line += ",\"value\":" + QuotedText.text(field.value) }
    // A run of zeros can be as long as the file.
    line +=
      field.isZeros && (bytes.isEmpty || bytes.count > 8)
      ? ",\"zeros\":true" : ",\"hex\":\"\(Hex.text(bytes))\""
    return line + "}\n"
  }
}
