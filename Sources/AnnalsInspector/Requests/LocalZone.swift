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
    let zone = minutes / 60 * 100 + minutes % 60
    let fraction = fraction(date)
    if (0...9_999).contains(date.year), fraction.isEmpty {
      return LocalZone.text(date, zone, isWest: offset < 0)
    }
    let sign = offset < 0 ? "-" : "+"
    return "\(date.dayText) \(date.timeText)\(fraction) \(sign)\(zone.padded(4))"
  }

  /// The same as above, made at once: lists have many.
  private static func text(_ date: CivilDate, _ zone: Int64, isWest: Bool) -> String {
    String(unsafeUninitializedCapacity: 25) { text in
      var place = 0
      func add(_ value: Int64, _ digits: Int, _ marks: String) {
        var rest = value
        for index in stride(from: place + digits - 1, through: place, by: -1) {
          text[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
          rest /= 10
        }
        place += digits
        for mark in marks.utf8 {
          text[place] = mark
          place += 1
        }
      }
      add(date.year, 4, "-")
      add(date.month, 2, "-")
      add(date.day, 2, " ")
      add(date.hour, 2, ":")
      add(date.minute, 2, ":")
      add(date.second, 2, isWest ? " -" : " +")
      add(zone, 4, "")
      return place
    }
  }
}
