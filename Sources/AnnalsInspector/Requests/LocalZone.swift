import Annals

/// The time zone of dates that are printed and typed.
package struct LocalZone: Sendable {
  /// The zone's offset from UTC in seconds at a given time.
  package let offset: @Sendable (Timestamp) -> Int

  package init(offset: @escaping @Sendable (Timestamp) -> Int) { self.offset = offset }

  /// A zone with a fixed offset.
  package static func fixed(_ seconds: Int) -> LocalZone { LocalZone(offset: { _ in seconds }) }

  /// The time at which the zone's clocks show this date: the first of two if clocks were set back.
  /// If clocks skipped it, the time with the offset from before.
  package func moment(_ date: CivilDate) -> Timestamp {
    let local = date.timestamp()
    return Timestamp(local: local, offset: offset) ?? local
  }

  /// `2019-10-22 20:15:04 +0200`: when something was done, to the second.
  package func text(_ moment: Timestamp) -> String { text(moment, fraction: { _ in "" }) }

  /// The same with the fraction of the second, where there is one: for dates that are data.
  package func exactText(_ moment: Timestamp) -> String {
    text(moment, fraction: \.microsecond.fractionText)
  }

  private func text(_ moment: Timestamp, fraction: (CivilDate) -> String) -> String {
    let offset = offset(moment)
    let date = CivilDate(moment, offset: offset)
    let minutes = Int64(abs(offset) / 60)
    let zone =
      "\(offset < 0 ? "-" : "+")\((minutes / 60).padded(2))\((minutes % 60).padded(2))"
    return "\(date.dayText) \(date.timeText)\(fraction(date)) \(zone)"
  }
}
