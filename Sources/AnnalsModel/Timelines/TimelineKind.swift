/// The kind of an object on a timeline; follows from the object's values alone, never from the
/// clock.
public enum TimelineKind: UInt8, Hashable, Sendable, CaseIterable {
  /// One date.
  case single
  /// A start and an end.
  case range
  /// A start, and no end yet.
  case ongoing
}

/// What a row of a timeline shows of its object.
public enum TimelineRole: UInt8, Hashable, Sendable, CaseIterable {
  /// The date of a single.
  case single
  /// The start of a range, or of an ongoing object.
  case start
  /// The end of a range.
  case end
  /// That the object is ongoing.
  case ongoing
}

/// Oddities of an object on a timeline.
public struct TimelineMarks: OptionSet, Hashable, Sendable {
  /// The marks as bits.
  public let rawValue: UInt8

  /// Creates marks from bits.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// The end comes before the start. Such a range has both rows, and is left out of intervals.
  public static let inverted = TimelineMarks(rawValue: 1)
  /// The end cannot be read as a date, so the object is a single date.
  public static let unreadableEnd = TimelineMarks(rawValue: 2)
  /// It began at the start or earlier; when is unknown.
  public static let startsEarlier = TimelineMarks(rawValue: 4)
  /// Its dates are days, without time or zone. The last one counts: from the 4th to the 6th are
  /// three days, and what starts and ends on one day is a single date of one day.
  public static let days = TimelineMarks(rawValue: 8)
}

/// Why an object has no place on the timeline.
public enum TimelineAbsence: UInt8, Hashable, Sendable {
  /// It has no start.
  case noStart
  /// Its start cannot be read as a date.
  case unreadableStart
}
