/// Which rows a timeline has, and in what order.
///
/// Rows stand by their date. Of different objects at the same date, ends come first, then single
/// dates and instants (ranges that end where they start), then starts, each by the objects' ids.
public struct TimelineOrder: Hashable, Sendable {
  /// Whether the newest comes first: the exact reverse.
  public var isDescending: Bool
  /// Whether ranges have no row for their end.
  public var hidesEnds: Bool
  /// Whether what goes on has no row for that, only the one for its start.
  public var hidesOngoing: Bool
  /// Where the rows of what goes on stand.
  public var ongoing: OngoingPlace

  /// Where the rows of what goes on stand.
  public enum OngoingPlace: Hashable, Sendable {
    /// After every date, future ones too.
    case last
    /// At the time now, behind what happens then; of what starts later, at its start.
    case atNow
  }

  /// Rising, every row shown, what goes on after every date, unless said otherwise.
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
