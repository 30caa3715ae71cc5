import AnnalsInspector

extension TimelinePicture {
  /// The timeline of a document as a picture. Bars are in the order of their starts.
  init(_ document: TimelineDocument, zone: LocalZone, window: TimelineSheet.Window) {
    // Bands are ordered by their first start.
    var bands: [String] = []
    var numbers: [Int: Int] = [:]
    func band(_ group: Int?) -> Int {
      let group = group ?? -1
      if let known = numbers[group] { return known }
      numbers[group] = bands.count
      bands.append(group >= 0 ? document.groups[group] : "")
      return bands.count - 1
    }
    let bars = document.bars.map { TimelinePicture.Bar($0, band: band($0.group)) }
    var notes = [Numerals.counted(document.total, "object")]
    let more = document.total - bars.count
    if more > 0 { notes.append("\(Numerals.grouped(more)) of them, the latest, not drawn") }
    if document.unplacedCount > 0 {
      notes.append("\(Numerals.grouped(document.unplacedCount)) without a place")
    }
    self.init(
      title: document.title, bands: bands, bars: bars, notes: notes, now: document.nowUs,
      zone: zone,
      window: (window.first == .min ? nil : window.first, window.last == .max ? nil : window.last))
  }
}

extension TimelinePicture.Bar {
  fileprivate init(_ bar: TimelineDocument.Bar, band: Int) {
    let dates =
      switch bar.kind {
      case .single: bar.start
      case .range: "\(bar.start) – \(bar.end)"
      case .ongoing: "\(bar.start) –"
      }
    self.init(
      label: bar.label, band: band, start: bar.startUs, end: bar.endUs, kind: bar.kind,
      dates: dates, remark: bar.remark ?? "", isInverted: bar.isInverted == true)
  }
}
