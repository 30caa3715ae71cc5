import AnnalsModel
import Foundation

/// What a timeline shows of an entity's objects, and how.
package struct TimelineQuery: Sendable {
  package let definition: TimelineDefinition
  package let entity: EntityNumber
  package let order: TimelineOrder
  /// The zone for counting and writing times.
  package let zone: TimeZone

  package init(
    _ definition: TimelineDefinition, of entity: EntityNumber, _ order: TimelineOrder,
    in zone: TimeZone
  ) {
    self.definition = definition
    self.entity = entity
    self.order = order
    self.zone = zone
  }

  /// The paths on which dates, kinds, conditions, and labels and groups of other objects depend.
  func dependencies(in schema: Schema) -> [PathDependency] {
    var paths = [definition.start] + farPaths(in: schema)
    if let end = definition.end { paths.append(end) }
    switch definition.openEnd {
    case .never, .whenEndIsNil: break
    case .flag(let path), .kind(let path, _): paths.append(path)
    }
    return paths.map { PathDependency($0) } + (definition.endCondition?.dependencies ?? [])
      + (definition.condition?.dependencies ?? [])
  }
}

extension TimelineQuery {
  /// The paths of a label and a group that other objects give.
  func farPaths(in schema: Schema) -> [PropertyPath] {
    var paths: [PropertyPath] = []
    if let label = definition.label {
      paths.append(TimelineReading.naming(label, of: entity, in: schema))
    }
    if let group = definition.group { paths.append(group) }
    guard let own = schema.entity(numbered: entity) else { return [] }
    return paths.filter { path in
      path.names.count > 1 || path.names.first.map { own.relationship(named: $0) != nil } ?? false
    }
  }
}

// The rows of a timeline as entries: the word is the date, the rank tells ends, singles and both
// rows of an instant, starts and ongoing rows of one date apart.
extension TimelineOrder {
  /// Calls `body` with the entries of an object, which are one or two. `end` is that of a range.
  func forEachEntry(
    of row: Int64, start: Int64, end: Int64, _ kind: TimelineKind, now: Timestamp,
    _ body: (ListEntry) -> Void
  ) {
    func add(_ date: Int64, rank: UInt8, part: UInt8 = 0) {
      body(ListEntry(word: word(date), row: row, rank: rank, part: part))
    }
    switch kind {
    case .single: add(start, rank: 1)
    case .range:
      let isInstant = end == start
      add(start, rank: isInstant ? 1 : 2, part: isInstant ? 1 : 0)
      if !hidesEnds { add(end, rank: isInstant ? 1 : 0, part: isInstant ? 2 : 0) }
    case .ongoing:
      add(start, rank: 2)
      guard !hidesOngoing else { return }
      add(ongoing == .last ? .max : max(start, now.microseconds), rank: 3)
    }
  }

  /// A date as the word of entries, which rises in the order of the rows.
  func word(_ date: Int64) -> UInt64 {
    (UInt64(bitPattern: date) ^ 1 << 63) ^ (isDescending ? .max : 0)
  }

  /// When a row stands on the timeline; the last possible moment for ongoing rows after every date.
  package func moment(_ entry: ListEntry) -> Timestamp {
    let word = entry.word ^ (isDescending ? .max : 0)
    return Timestamp(microseconds: Int64(bitPattern: word ^ 1 << 63))
  }

  /// The date of a row; nil for an ongoing row.
  package func date(_ entry: ListEntry) -> Timestamp? {
    entry.role == .ongoing ? nil : moment(entry)
  }

  @inline(__always)
  func precedes(_ a: ListEntry, _ b: ListEntry) -> Bool {
    a.isBefore(b, areTiesDescending: isDescending)
  }
}

extension ListEntry {
  /// What a timeline's row tells of its object.
  package var role: TimelineRole {
    switch rank {
    case 0: .end
    case 1: part == 0 ? .single : part == 1 ? .start : .end
    case 2: .start
    default: .ongoing
    }
  }

  /// The identity of a row, wherever it is: its object and, on a timeline, its role.
  var identity: UInt64 { UInt64(bitPattern: row) << 2 | UInt64(role.rawValue) }
}

// Sections: the buckets of a calendar; what is ongoing after every date is in one of its own.
extension TimelineOrder {
  /// The section of a row, without positions. Without buckets it holds what is ongoing, or what is
  /// not.
  func section(of entry: ListEntry, _ buckets: inout CalendarBuckets?) -> TimelineSection {
    let isApart = isApart(entry, hasBuckets: buckets != nil)
    return TimelineSection(
      bucket: isApart ? nil : buckets?.bucket(containing: moment(entry)), isOngoing: isApart,
      positions: 0..<0)
  }

  /// Whether a row is in a section.
  func isIn(_ section: TimelineSection, _ entry: ListEntry) -> Bool {
    guard let bucket = section.bucket else {
      return (entry.role == .ongoing) == section.isOngoing
    }
    return bucket.contains(moment(entry)) && !isApart(entry, hasBuckets: true)
  }

  private func isApart(_ entry: ListEntry, hasBuckets: Bool) -> Bool {
    entry.role == .ongoing && (ongoing == .last || !hasBuckets)
  }

  /// The sections of ordered rows, each read by `entry`; `rank` finds how many of them stand at the
  /// front of which something is true. Calls `rank` once a section; without buckets, where ongoing
  /// rows stand at the time now, it reads all rows instead.
  func sections(
    by buckets: CalendarBuckets?, count: Int, _ entry: (Int) -> ListEntry,
    _ rank: ((ListEntry) -> Bool) -> Int
  ) -> [TimelineSection] {
    var buckets = buckets
    var result: [TimelineSection] = []
    var position = 0
    while position < count {
      let first = entry(position)
      var section = self.section(of: first, &buckets)
      var end = position + 1
      if buckets != nil || ongoing == .last {
        end = rank { isIn(section, $0) || precedes($0, first) }
      } else {
        while end < count, isIn(section, entry(end)) { end += 1 }
      }
      section.positions = position..<end
      result.append(section)
      position = end
    }
    return result
  }
}
