import Annals
import AnnalsExchange
import AnnalsInspector
import AnnalsQuery

/// Writes a timeline as JSON Lines: one for each row, then one for each object without a place.
///
/// Dates are RFC 3339 in UTC, days as `2019-10-06`; `startText` and `endText` are dates as the
/// store has them. `elapsed` (until now), `length` (of the object) and `gap` (to the row before)
/// are ISO 8601 durations.
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
      try console.output.object { try put(position, &previous, &$0) }
    }
    for (object, reason) in sheet.columns.unplaced {
      try console.output.object { json in
        json.member("object", try sheet.name(object))
        json.member("unplaced", reason == .noStart ? "no start" : "unreadable start")
      }
    }
  }

  private func put(_ position: Int, _ previous: inout Int64?, _ json: inout JSONWriter) throws {
    let columns = sheet.columns
    let entry = sheet.entries[position]
    let index = sheet.entries.index(entry)
    let role = entry.role
    let kind = columns.kind(index)
    let date = sheet.entries.order.date(entry)
    json.member("object", try sheet.name(columns.objects[index]))
    json.member("role", "\(role)")
    json.member("kind", "\(kind)")
    func text(_ moment: Int64) -> String {
      columns.marks(index).contains(.days)
        ? CalendarDay(inUTC: moment).description : Timestamp(microseconds: moment).description
    }
    if let date { json.member("date", text(date.microseconds)) }
    json.member("start", text(columns.starts[index]))
    if !columns.startTexts[index].isEmpty { json.member("startText", columns.startTexts[index]) }
    if kind == .range {
      json.member("end", text(columns.ends[index]))
    }
    if !columns.endTexts[index].isEmpty { json.member("endText", columns.endTexts[index]) }
    if !columns.labels[index].isEmpty { json.member("label", columns.labels[index]) }
    if sheet.showsGroups, columns.group(index) != nil {
      json.member("group", sheet.groupName(index))
    }
    let marks = columns.marks(index)
    for (mark, name) in [
      (TimelineMarks.inverted, "inverted"), (.unreadableEnd, "unreadableEnd"),
      (.startsEarlier, "startsEarlier"),
    ] where marks.contains(mark) {
      json.member(name, true)
    }
    if let length = sheet.length(index) { json.member("length", length.durationText) }
    let elapsed = sheet.elapsed(index, since: date?.microseconds)
    json.member("elapsed", elapsed.durationText)
    if let date, let previous {
      let moment = date.microseconds
      let gap = sheet.span(from: min(previous, moment), to: max(previous, moment))
      json.member("gap", gap.durationText)
    }
    previous = date?.microseconds
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
      time += "\(seconds)\(microseconds.fractionText)S"
    }
    if !time.isEmpty { text += "T" + time }
    return text.hasSuffix("P") ? text + "T0S" : text
  }
}
