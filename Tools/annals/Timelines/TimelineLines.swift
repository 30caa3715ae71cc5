import Annals
import AnnalsExchange
import AnnalsQuery

/// Writes a timeline as JSON Lines: one for each row, then one for each object without a place.
///
/// Dates are RFC 3339 in UTC; `startText` and `endText` are dates as the store has them. `elapsed`
/// (until now), `length` (of the object) and `gap` (to the row before) are ISO 8601 durations.
struct TimelineLines {
  private let sheet: TimelineSheet
  private let console: Console

  init(_ sheet: TimelineSheet, _ console: Console) {
    self.sheet = sheet
    self.console = console
  }

  func write() throws {
    var previous: Int64?
    for position in sheet.positions {
      var json = JSONWriter()
      json.beginObject()
      try put(position, &previous, &json)
      json.endObject()
      json.endLine()
      try console.output.write(json.bytes)
    }
    for (object, reason) in sheet.columns.unplaced {
      var json = JSONWriter()
      json.beginObject()
      json.put("object", try sheet.name(object))
      json.put("unplaced", reason == .noStart ? "no start" : "unreadable start")
      json.endObject()
      json.endLine()
      try console.output.write(json.bytes)
    }
  }

  private func put(_ position: Int, _ previous: inout Int64?, _ json: inout JSONWriter) throws {
    let columns = sheet.columns
    let entry = sheet.entries[position]
    let index = entry.index
    let role = sheet.entries.role(entry)
    let kind = columns.kind(index)
    let date = sheet.entries.date(entry)
    json.put("object", try sheet.name(columns.objects[index]))
    json.put("role", "\(role)")
    json.put("kind", "\(kind)")
    if let date { json.put("date", date.description) }
    json.put("start", Timestamp(microseconds: columns.starts[index]).description)
    if !columns.startTexts[index].isEmpty { json.put("startText", columns.startTexts[index]) }
    if kind == .range {
      json.put("end", Timestamp(microseconds: columns.ends[index]).description)
    }
    if !columns.endTexts[index].isEmpty { json.put("endText", columns.endTexts[index]) }
    if !columns.labels[index].isEmpty { json.put("label", columns.labels[index]) }
    if sheet.showsGroups, columns.group(index) != nil { json.put("group", sheet.groupName(index)) }
    let marks = columns.marks(index)
    for (mark, name) in [
      (TimelineMarks.inverted, "inverted"), (.unreadableEnd, "unreadableEnd"),
      (.startsEarlier, "startsEarlier"),
    ] where marks.contains(mark) {
      json.key(name)
      json.bool(true)
    }
    if let length = sheet.length(index) { json.put("length", length.durationText) }
    let elapsed = sheet.span(
      from: date?.microseconds ?? columns.starts[index], to: sheet.now.microseconds)
    json.put("elapsed", elapsed.durationText)
    if let date, let previous {
      let moment = date.microseconds
      let gap = sheet.span(from: min(previous, moment), to: max(previous, moment))
      json.put("gap", gap.durationText)
    }
    previous = date?.microseconds
  }
}

extension JSONWriter {
  fileprivate mutating func put(_ name: String, _ text: String) {
    key(name)
    string(text)
  }
}

extension CalendarSpan {
  /// An ISO 8601 duration: `P2Y3M`, `PT0.25S`, `-P3D`.
  var durationText: String {
    var text = isNegative ? "-P" : "P"
    for (count, unit) in [(years, "Y"), (months, "M"), (days, "D")] where count != 0 {
      text += "\(count)\(unit)"
    }
    var time = ""
    for (count, unit) in [(hours, "H"), (minutes, "M")] where count != 0 {
      time += "\(count)\(unit)"
    }
    if seconds != 0 || microseconds != 0 {
      var fraction = ""
      if microseconds != 0 {
        var digits = String(1_000_000 + microseconds).dropFirst()
        while digits.last == "0" { digits.removeLast() }
        fraction = "." + digits
      }
      time += "\(seconds)\(fraction)S"
    }
    if !time.isEmpty { text += "T" + time }
    return text.hasSuffix("P") ? text + "T0S" : text
  }
}
