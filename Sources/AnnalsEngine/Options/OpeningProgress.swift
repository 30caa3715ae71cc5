/// The progress of what a change of the schema has to do for all objects: of migrations, and of
/// derived attributes that a store with objects gets.
///
/// `StoreOptions.progress` is called with it. A store that has its schema and its migrations tells
/// of none.
public struct OpeningProgress: Hashable, Sendable {
  /// What is being done.
  public enum Work: Hashable, Sendable {
    /// The closure of a migration is about to run. It reports nothing itself, but for conversions.
    case migrating
    /// A property gets values of another type.
    case converting
    /// A derived attribute is computed.
    case filling
    /// The changes are checked and written to the log.
    case recording
  }

  /// What is being done. Most openings fill one attribute after the other, then record; migrations
  /// are each made from beginning to end.
  public let work: Work
  /// The name of the migration; nil for a change of the schema without one.
  public let migration: String?
  /// The property that is converted or filled, as `Author.bookCount`; nil for other work.
  public let property: String?
  /// The number of objects for which this work is done.
  public let count: Int64
  /// The fraction of this work that is done, from 0 to 1; nil if it is unknown.
  public let fraction: Double?
}

/// Tells a program of the progress of a draft.
struct ProgressReport: Sendable {
  /// The program's function.
  let tell: @Sendable (OpeningProgress) throws -> Void
  /// The migration that the draft is.
  var migration: String?
  /// After how many objects it is told, at the least.
  static let interval: Int64 = 4_096

  /// Tells of `count` objects of `total`. What the function throws ends the call with `.cancelled`.
  func tell(
    _ work: OpeningProgress.Work, _ property: String? = nil, count: Int64 = 0, of total: Int64?
  ) throws(AnnalsError) {
    let fraction = total.map { $0 > 0 ? min(Double(count) / Double($0), 1) : 1 }
    do {
      try tell(
        OpeningProgress(
          work: work, migration: migration, property: property, count: count, fraction: fraction))
    } catch {
      throw .stopped(error)
    }
  }
}

/// A count of objects of which a program is told now and then.
struct ObjectProgress {
  private let report: ProgressReport?
  private let work: OpeningProgress.Work
  private let property: String?
  private let total: Int64
  private var count: Int64 = 0

  /// Of work on `total` objects; tells of nothing if there is nobody to tell.
  init(
    _ report: ProgressReport?, _ work: OpeningProgress.Work, _ property: String? = nil,
    of total: Int
  ) {
    (self.report, self.work, self.property) = (report, work, property)
    self.total = Int64(total)
  }

  /// Counts objects; tells of them each time that some thousands are done, and at the end.
  @inline(__always)
  mutating func add(_ objects: Int = 1) throws(AnnalsError) {
    guard let report else { return }
    let before = count
    count += Int64(objects)
    if count / ProgressReport.interval != before / ProgressReport.interval || count == total {
      try report.tell(work, property, count: count, of: total)
    }
  }
}
