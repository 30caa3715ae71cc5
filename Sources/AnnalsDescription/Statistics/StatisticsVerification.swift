import AnnalsInspection
import AnnalsStorage

/// A physical verification that also collects the figures of `stat`.
package struct StatisticsVerification {
  private var verification: PhysicalVerification
  private let collector: StatisticsCollector

  /// A verification of an open file. Throws if the file cannot be read at all.
  /// With `dividesHistory`, bytes are also divided among authors and months.
  package init(
    _ file: any StorageFile, dividesHistory: Bool = false
  ) throws(StorageError) {
    verification = try PhysicalVerification(file)
    collector = StatisticsCollector(
      fileSize: verification.fileSize, header: verification.header)
    if dividesHistory { collector.division = HistoryDivision() }
    verification.observer = collector
  }

  /// Verifies the file as `PhysicalVerification.run` does. Throws if the system cannot read. Call
  /// it once. Memory besides that: a few words for each property, author, large value and
  /// checkpoint frame.
  package mutating func run(
    report: @escaping (Finding) -> Void
  ) throws(StorageError) -> (report: PhysicalReport, statistics: FileStatistics) {
    (try verification.run(report: report), collector.statistics)
  }
}
