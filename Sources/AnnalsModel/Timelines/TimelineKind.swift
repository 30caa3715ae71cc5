/// What an object is on a timeline; it follows from the object's values alone, never from the
/// clock.
public enum TimelineKind: UInt8, Hashable, Sendable, CaseIterable {
  /// One date.
  case single
  /// A start and an end.
  case range
  /// A start, and no end yet.
  case ongoing
}

/// What a row of a timeline tells of its object.
public enum TimelineRole: UInt8, Hashable, Sendable, CaseIterable {
  /// The one date of a single.
  case single
  /// The start of a range, or of what goes on.
  case start
  /// The end of a range.
  case end
  /// That it goes on.
  case ongoing
}

/// What is odd about an object on a timeline.
public struct TimelineMarks: OptionSet, Hashable, Sendable {
  /// The marks as bits.
  public let rawValue: UInt8

  /// The marks of these bits.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// The end comes before the start. Such a range has both rows, and takes no part in questions of
  /// intervals.
  public static let inverted = TimelineMarks(rawValue: 1)
  /// There is an end that cannot be read as a date, so that the object is a single date.
  public static let unreadableEnd = TimelineMarks(rawValue: 2)
  /// It began at the start or earlier: nobody knows.
  public static let startsEarlier = TimelineMarks(rawValue: 4)
}

/// Why an object is not on the timeline.
public enum TimelineAbsence: UInt8, Hashable, Sendable {
  /// It has no start.
  case noStart
  /// Its start cannot be read as a date.
  case unreadableStart
}
