/// Which rows a timeline has, and in what order.
///
/// Rows are ordered by date. Of different objects at the same date, ends come first, then single
/// dates and instants (ranges that end where they start), then starts; each of these by object id.
public struct TimelineOrder: Hashable, Sendable {
  /// Whether the newest row comes first: the exact reverse.
  public var isDescending: Bool
  /// Whether ranges have no row for their end.
  public var hidesEnds: Bool
  /// Whether ongoing objects have no row for that, only one for their start.
  public var hidesOngoing: Bool
  /// Where the rows of ongoing objects come.
  public var ongoing: OngoingPlace

  /// Where the rows of ongoing objects come.
  public enum OngoingPlace: Hashable, Sendable {
    /// After every date, including future ones.
    case last
    /// At the present time, after what happens then; for an object that starts later, at its start.
    case atNow
  }

  /// Creates an order; by default rising, with every row, and ongoing objects after every date.
  public init(
    isDescending: Bool = false, hidesEnds: Bool = false, hidesOngoing: Bool = false,
    ongoing: OngoingPlace = .last
  ) {
    self.isDescending = isDescending
    self.hidesEnds = hidesEnds
    self.hidesOngoing = hidesOngoing
    self.ongoing = ongoing
  }
}
