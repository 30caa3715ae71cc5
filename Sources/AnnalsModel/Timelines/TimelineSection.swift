/// A section of a timeline's rows.
public struct TimelineSection: Hashable, Sendable {
  /// The calendar unit of the section; nil for ongoing objects, and if there are no units.
  public let bucket: CalendarBucket?
  /// Whether its rows show ongoing objects.
  public let isOngoing: Bool
  /// The positions of its rows.
  public package(set) var positions: Range<Int>

  /// Creates a section from its parts.
  package init(bucket: CalendarBucket?, isOngoing: Bool, positions: Range<Int>) {
    self.bucket = bucket
    self.isOngoing = isOngoing
    self.positions = positions
  }

  /// The bucket's name, `ongoing`, or `dated`.
  public var label: String { bucket?.label ?? (isOngoing ? "ongoing" : "dated") }
}
