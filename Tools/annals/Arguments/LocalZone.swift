import Annals
import Foundation

/// The zone in which people read and type dates.
struct LocalZone: Sendable {
  /// How many seconds the zone's clocks are ahead of UTC at a moment.
  let offset: @Sendable (Timestamp) -> Int
  /// The zone, whose calendar groups dates.
  var timeZone = TimeZone.gmt

  /// A zone whose clocks never change.
  static func fixed(_ seconds: Int) -> LocalZone {
    LocalZone(offset: { _ in seconds }, timeZone: TimeZone(secondsFromGMT: seconds) ?? .gmt)
  }

  /// The zone of the machine, or of the variable TZ.
  static var current: LocalZone {
    let zone = TimeZone.current
    return LocalZone(
      offset: { moment in
        zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(moment.microseconds) / 1e6))
      }, timeZone: zone)
  }

  /// The moment at which the zone's clocks show this; the first of two when clocks were set back.
  /// When they were set forward past it, the moment counted with the offset before.
  func moment(_ date: CivilDate) -> Timestamp {
    let day: Int64 = 86_400_000_000
    let guess = date.timestamp()
    let before = offset(Timestamp(microseconds: guess.microseconds - day))
    let after = offset(Timestamp(microseconds: guess.microseconds + day))
    for candidate in [before, after] {
      let moment = date.timestamp(offset: candidate)
      if offset(moment) == candidate { return moment }
    }
    return date.timestamp(offset: before)
  }

  /// `2019-10-22 20:15:04 +0200`: when something was done, to the second.
  func text(_ moment: Timestamp) -> String { text(moment, fraction: { _ in "" }) }

  /// The same with the fraction of the second, where there is one: for dates that are data.
  func exactText(_ moment: Timestamp) -> String { text(moment, fraction: \.fractionText) }

  private func text(_ moment: Timestamp, fraction: (CivilDate) -> String) -> String {
    let offset = offset(moment)
    let date = CivilDate(moment, offset: offset)
    let minutes = Int64(abs(offset) / 60)
    let zone =
      "\(offset < 0 ? "-" : "+")\(CivilDate.two(minutes / 60))\(CivilDate.two(minutes % 60))"
    return "\(date.dayText) \(date.timeText)\(fraction(date)) \(zone)"
  }
}
