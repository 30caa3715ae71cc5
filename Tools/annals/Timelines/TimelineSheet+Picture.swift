import Annals
import AnnalsInspector
import AnnalsQuery
import Foundation

extension TimelineSheet {
  /// The timeline as a picture. Bars are in the order of their starts. Objects outside the window
  /// are left out.
  func picture() throws -> TimelinePicture {
    var shown = (0..<columns.count).filter(isShown)
    shown.sort { (columns.starts[$0], $0) < (columns.starts[$1], $1) }
    let all = shown.count
    let more = all - TimelinePicture.mostBars
    shown = Array(shown.prefix(TimelinePicture.mostBars))
    // Bands are ordered by their first start.
    var bands: [String] = []
    var numbers: [Int: Int] = [:]
    func band(_ index: Int) -> Int {
      let group = showsGroups ? columns.group(index) ?? -1 : -2
      if let known = numbers[group] { return known }
      numbers[group] = bands.count
      bands.append(group >= 0 ? groupNames[group] : "")
      return bands.count - 1
    }
    let bars = try shown.map { index in
      let kind = columns.kind(index)
      let isOfDays = kind == .range && columns.days(index) != nil
      let end = columns.ends[index] + (isOfDays ? TimelineSheet.dayLength : 0)
      return TimelinePicture.Bar(
        label: try label(index), band: band(index), start: columns.starts[index],
        end: kind == .ongoing ? now.microseconds : end, kind: kind, dates: dates(index),
        remark: remark(index), isInverted: columns.marks(index).contains(.inverted))
    }
    var notes = [Numerals.counted(all, "object")]
    if more > 0 { notes.append("\(Numerals.grouped(more)) of them, the latest, not drawn") }
    if !columns.unplaced.isEmpty {
      notes.append("\(Numerals.grouped(columns.unplaced.count)) without a place")
    }
    return TimelinePicture(
      title: title, bands: bands, bars: bars, notes: notes, now: now.microseconds, zone: zone,
      window: (window.first == .min ? nil : window.first, window.last == .max ? nil : window.last))
  }

  private func dates(_ index: Int) -> String {
    let start = startText(index)
    return switch columns.kind(index) {
    case .single: start
    case .range: "\(start) – \(endText(index))"
    case .ongoing: "\(start) –"
    }
  }
}
