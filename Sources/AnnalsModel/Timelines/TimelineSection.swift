/// Rows of a timeline that stand together.
public struct TimelineSection: Hashable, Sendable {
  /// The bucket of the calendar; nil for what goes on, and where there are no buckets.
  public let bucket: CalendarBucket?
  /// Whether its rows are those that say that something goes on.
  public let isOngoing: Bool
  /// The positions of its rows.
  public package(set) var positions: Range<Int>

  /// The section of these rows.
  package init(bucket: CalendarBucket?, isOngoing: Bool, positions: Range<Int>) {
    self.bucket = bucket
    self.isOngoing = isOngoing
    self.positions = positions
  }

  /// The bucket's name, `ongoing`, or `dated`.
  public var label: String { bucket?.label ?? (isOngoing ? "ongoing" : "dated") }
}
