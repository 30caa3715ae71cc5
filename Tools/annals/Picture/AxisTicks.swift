import Annals
import AnnalsInspector

/// The ticks of a time axis: round dates in a zone, as many as there is room for labels.
struct AxisTicks {
  /// One tick.
  struct Tick: Hashable {
    var moment: Int64
    var label: String
  }

  let ticks: [Tick]

  /// The distance between ticks.
  private enum Step {
    case seconds(Int64)
    case days(Int64)
    case months(Int64)

    /// The least length in seconds.
    var seconds: Double {
      switch self {
      case .seconds(let count): Double(count)
      case .days(let count): Double(count) * 86_400
      case .months(let count): Double(count) * 30.4 * 86_400
      }
    }

    /// The number of characters in a label.
    var labelLength: Int {
      switch self {
      case .seconds(let count): count >= 60 ? 11 : 14
      case .days: 10
      case .months(let count): count >= 12_000 ? 7 : count >= 12 ? 4 : 7
      }
    }
  }

  private static let steps: [Step] =
    [1, 5, 15, 30, 60, 300, 900, 1_800, 3_600, 10_800, 21_600, 43_200].map { .seconds($0) }
    + [1, 2, 7, 14].map { .days($0) }
    + [1, 3, 6].map { .months($0) }
    + [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000]
    .map { .months($0 * 12) }

  /// The ticks between two times whose labels fit side by side; at most a thousand.
  init(from: Int64, to: Int64, room: Double, zone: LocalZone) {
    let length = (Double(to) - Double(from)) / 1e6
    let step =
      AxisTicks.steps.first { step in
        let most = min(room / (Double(step.labelLength) * 7.5 + 14), 1_000)
        return length / step.seconds <= most
      } ?? .months(1_200_000)
    var found: [Tick] = []
    // Near the ends of the range of dates, adding the zone's offset would overflow.
    let low = max(from, -9_150_000_000_000_000_000)
    let high = min(to, 9_150_000_000_000_000_000)
    guard low <= high else {
      ticks = []
      return
    }
    let first = CivilDate(
      Timestamp(microseconds: low), offset: zone.offset(Timestamp(microseconds: low)))
    var index: Int64 = 0
    while found.count < 1_000 {
      let date = AxisTicks.date(first, step, index)
      index += 1
      guard abs(date.year) <= CivilDate.greatestYear else { break }
      let moment = zone.moment(date).microseconds
      if moment > high { break }
      if moment >= low {
        found.append(Tick(moment: moment, label: AxisTicks.label(date, step)))
      }
    }
    ticks = found
  }

  /// The round date that is `index` steps after the last one before `first`.
  private static func date(_ first: CivilDate, _ step: Step, _ index: Int64) -> CivilDate {
    switch step {
    case .months(let count):
      let months = roundedDown(first.year * 12 + first.month - 1, count) + index * count
      let year = roundedDown(months, 12) / 12
      return CivilDate(year: year, month: months - year * 12 + 1)
    case .days(let count):
      let day = CivilDate(year: first.year, month: first.month, day: first.day).seconds / 86_400
      // Weeks begin on Mondays; 1970-01-05 was one.
      let shift: Int64 = count.isMultiple(of: 7) ? 4 : 0
      return civil((roundedDown(day - shift, count) + shift + index * count) * 86_400)
    case .seconds(let count):
      return civil(roundedDown(first.seconds, count) + index * count)
    }
  }

  private static func civil(_ seconds: Int64) -> CivilDate {
    CivilDate(Timestamp(microseconds: seconds * 1_000_000))
  }

  private static func roundedDown(_ value: Int64, _ step: Int64) -> Int64 {
    value - value.dividedRoundingDown(by: step).remainder
  }

  private static func label(_ date: CivilDate, _ step: Step) -> String {
    let day = date.dayText
    switch step {
    case .months(let count):
      // The year, and the month if ticks are less than a year apart.
      let year = day.dropLast(6)
      return count >= 12 ? String(year) : String(day.dropLast(3))
    case .days: return day
    case .seconds(let count):
      let time = count >= 60 ? String(date.timeText.dropLast(3)) : date.timeText
      return "\(day.suffix(5)) \(time)"
    }
  }
}
