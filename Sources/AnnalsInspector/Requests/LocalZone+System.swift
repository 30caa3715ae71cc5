import Annals
import AnnalsQuery
import AnnalsStorage

extension LocalZone {
  /// The zone of the machine, or of the variable TZ, as the C library reads it.
  package static var current: LocalZone {
    LocalZone(offset: { moment in
      LocalTime.offset(
        at: moment.microseconds.dividedRoundingDown(by: 1_000_000).quotient)
    })
  }

  /// The clock by which dates are grouped.
  package var clock: ZoneClock {
    ZoneClock { [offset] second in
      let (product, overflow) = second.multipliedReportingOverflow(by: 1_000_000)
      return Int64(offset(overflow ? (second < 0 ? .min : .max) : Timestamp(microseconds: product)))
    }
  }
}
