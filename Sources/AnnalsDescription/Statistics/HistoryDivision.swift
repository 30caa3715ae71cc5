import AnnalsModel

/// Divides the bytes of transactions among their authors and the months in which they were made.
struct HistoryDivision {
  /// What belongs to one author, or to one month.
  struct Sum {
    var bytes = 0.0
    var transactions: Int64 = 0
  }

  /// A month of UTC.
  struct Month: Hashable, Comparable {
    var year: Int64
    var month: Int64

    /// `2019-10`.
    var text: String { String(CalendarDate(year: year, month: month, day: 1).text.dropLast(3)) }

    static func < (a: Month, b: Month) -> Bool { (a.year, a.month) < (b.year, b.month) }
  }

  private(set) var authors: [NameNumber: Sum] = [:]
  private(set) var months: [Month: Sum] = [:]

  /// Divides the length of a frame among the transactions in it, by the sizes of their values.
  mutating func add(_ batch: ChangeBatch, length: UInt64) {
    let weights = batch.transactions.map { record in
      batch.changes[record.changeRange].reduce(12.0) { sum, change in
        batch.properties[change.propertyRange].reduce(sum + 3) { sum, property in
          sum + ShareTable.weight(property.before) + ShareTable.weight(property.after)
        }
      }
    }
    let scale = Double(length) / max(1, weights.reduce(0, +))
    for (record, weight) in zip(batch.transactions, weights) {
      let count: Int64 = record.part == 0 ? 1 : 0
      authors[record.author, default: Sum()].add(weight * scale, count)
      months[HistoryDivision.month(of: record.timestamp), default: Sum()].add(
        weight * scale, count)
    }
  }

  private static func month(of moment: Timestamp) -> Month {
    let day = moment.microseconds.dividedRoundingDown(by: 86_400_000_000).quotient
    let date = CalendarDate(daysSince1970: day)
    return Month(year: date.year, month: date.month)
  }
}

extension HistoryDivision.Sum {
  fileprivate mutating func add(_ bytes: Double, _ count: Int64) {
    self.bytes += bytes
    transactions += count
  }
}
