import AnnalsModel

/// The objects of a timeline, by column: the source of every order of its rows.
///
/// Objects are in id order; one that lived twice occurs twice, the earlier life first.
package struct TimelineColumns: Sendable {
  /// The objects, rising.
  package private(set) var objects: ContiguousArray<ObjectReference> = []
  /// When each began, in microseconds.
  package private(set) var starts: ContiguousArray<Int64> = []
  /// When each ended; of a single its date, of an ongoing object the last moment of all.
  package private(set) var ends: ContiguousArray<Int64> = []
  /// The kind in the lowest two bits, the marks above.
  private var traits: ContiguousArray<UInt8> = []
  /// The number of each one's group, -1 for none; empty where there are no groups.
  package private(set) var groupNumbers: ContiguousArray<Int32> = []
  /// The groups' values, by number.
  package var groups: [Value] = []
  /// The objects' names; empty where none was asked for.
  package private(set) var labels = TextColumn()
  /// The dates as they are written; empty where they are no texts.
  package private(set) var startTexts = TextColumn()
  package private(set) var endTexts = TextColumn()
  /// The objects that have no place on the timeline, rising, with the reason.
  package internal(set) var unplaced: [(object: ObjectReference, reason: TimelineAbsence)] = []
  /// Whether dates are texts or days, which have no zone.
  package internal(set) var hasWrittenDates = false

  /// Labels and unreadable texts are kept up to so many bytes.
  package static let longestText = 256

  package init() {}

  /// How many objects have a place.
  package var count: Int { objects.count }

  /// The kind of the object at this place.
  @inline(__always)
  package func kind(_ index: Int) -> TimelineKind {
    switch traits[index] & 3 {
    case 0: .single
    case 1: .range
    default: .ongoing
    }
  }

  /// The marks of the object at this place.
  @inline(__always)
  package func marks(_ index: Int) -> TimelineMarks {
    TimelineMarks(rawValue: traits[index] >> 2)
  }

  /// The number of the group of the object at this place; nil for none.
  package func group(_ index: Int) -> Int? {
    guard index < groupNumbers.count, groupNumbers[index] >= 0 else { return nil }
    return Int(groupNumbers[index])
  }

  /// The first and the last day of the object at this place, of an ongoing one the first alone; nil
  /// if its dates are no days.
  package func days(_ index: Int) -> (first: CalendarDay, last: CalendarDay?)? {
    guard marks(index).contains(.days) else { return nil }
    let first = CalendarDay(inUTC: starts[index])
    return (first, kind(index) == .ongoing ? nil : CalendarDay(inUTC: ends[index]))
  }

  /// How long the object at this place lasts, both days counted, if its dates are days; of an
  /// ongoing one until today. Nil if they are no days.
  package func length(ofDays index: Int, today: CalendarDay) -> CalendarSpan? {
    days(index).map { CalendarSpan(from: $0.first, through: $0.last ?? today) }
  }

  /// Appends an object, whose id is not less than those before. `end` counts for a range.
  package mutating func append(
    _ object: ObjectReference, start: Int64, end: Int64, kind: TimelineKind,
    marks: TimelineMarks = []
  ) {
    var marks = marks
    objects.append(object)
    starts.append(start)
    switch kind {
    case .single: ends.append(start)
    case .range:
      ends.append(end)
      if end < start { marks.insert(.inverted) }
    case .ongoing: ends.append(.max)
    }
    traits.append(kind.rawValue | marks.rawValue << 2)
  }

  /// Says in which group the object appended last is.
  package mutating func appendGroup(_ number: Int32?) { groupNumbers.append(number ?? -1) }

  /// Names the object appended last.
  package mutating func appendLabel(_ text: UnsafeRawBufferPointer) {
    labels.append(text, limit: TimelineColumns.longestText)
  }

  /// Names the object appended last.
  package mutating func appendLabel(_ text: String) {
    labels.append(text, limit: TimelineColumns.longestText)
  }

  /// Says how the dates of the object appended last are written.
  package mutating func appendTexts(
    start: UnsafeRawBufferPointer, end: UnsafeRawBufferPointer
  ) {
    startTexts.append(start, limit: TimelineColumns.longestText)
    endTexts.append(end, limit: TimelineColumns.longestText)
  }

  /// The places of an object. O(log n).
  package func places(of object: ObjectReference) -> Range<Int> {
    let first = (0..<count).rank { objects[$0] < object }
    return first..<(0..<count).rank { objects[$0] <= object }
  }
}
