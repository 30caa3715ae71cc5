import AnnalsModel
import AnnalsState
import Foundation

/// The query of a live list: its rows, their order, and their sections. A class, so that copies of
/// a list retain one object.
package final class ListQuery: Sendable {
  /// The rows; its first key is that of the sections, if there are any.
  package let rows: RowQuery
  package let sections: SectionRule?
  /// Of a timeline, which decides what rows objects have; nil where each object is one row.
  package let timeline: TimelineQuery?

  /// Creates a query with sections: the section's path becomes the first key unless it already is.
  /// Sections of the values in `order` come first.
  package init(
    _ rows: RowQuery, sections: (path: PropertyPath, rule: SectionRule)? = nil,
    order: [Value] = []
  ) {
    var rows = rows
    if let sections {
      if rows.keys.first?.path != sections.path { rows.keys.insert(SortKey(sections.path), at: 0) }
      rows.keys[0].order = order
    }
    self.rows = rows
    self.sections = sections?.rule
    timeline = nil
  }

  /// Creates the query of a timeline, whose sections are by the calendar.
  package init(_ timeline: TimelineQuery, sections unit: CalendarUnit?) {
    rows = RowQuery(entity: timeline.entity, areTiesDescending: timeline.order.isDescending)
    sections = unit.map { .calendar($0, timeline.zone) }
    self.timeline = timeline
  }

  /// The paths on which the rows and their order depend.
  func dependencies(in state: State, _ records: RecordWork?) -> [PathDependency] {
    if let timeline { return timeline.dependencies(in: state.schema) }
    var paths = rows.keys.map(\.path)
    // Whether the objects exist that these lead to is part of a record.
    if let records, let entity = state.schema.entity(numbered: rows.entity) {
      paths += records.relationships.compactMap { entity.propertyName($0) }.map { [$0] }
    }
    return rows.condition.dependencies + paths.map { PathDependency($0) }
  }

  /// The buckets of sections by the calendar. Dates that are written as texts, and days, are
  /// grouped in UTC.
  func buckets(_ bound: ListBinding) -> CalendarBuckets? {
    guard case .calendar(let unit, let zone) = sections else { return nil }
    let hasZone = bound.timeline.map { !$0.hasWrittenDates } ?? !bound.order.beginsWithDays
    return CalendarBuckets(unit, timeZone: hasZone ? zone : .gmt)
  }

  /// Whether only some of the rows found are shown.
  var isWindow: Bool { rows.offset > 0 || rows.limit != nil }

  /// The positions, of so many rows found, that are shown.
  func window(of count: Int) -> Range<Int> {
    let start = min(rows.offset, count)
    return start..<start + min(rows.limit ?? .max, count - start)
  }
}

/// The rule that divides rows into sections.
package enum SectionRule: Hashable, Sendable {
  /// Equal values of the first key.
  case value
  /// Dates of the first key in one bucket of the calendar.
  case calendar(CalendarUnit, TimeZone)
}

/// What the rows of a section have in common.
package enum SectionKey: Hashable, Sendable {
  case value(Value)
  case bucket(CalendarBucket)
}

/// One object that changed.
package struct ListChange: Sendable {
  package var object: ObjectReference
  /// The properties that changed; for an inserted or deleted object, any.
  package var properties: PropertySet

  package init(_ object: ObjectReference, _ properties: PropertySet) {
    self.object = object
    self.properties = properties
  }
}

/// The objects that changed, each once.
package struct ListChanges: Sendable {
  /// By rising entity and row.
  package private(set) var elements: ContiguousArray<ListChange> = []
  private var isSorted = true

  package init() {}

  package var isEmpty: Bool { elements.isEmpty }

  /// Adds the changes of a batch of transactions, or of a part of it.
  package mutating func append(_ batch: ChangeBatch, _ range: Range<Int>? = nil) {
    for change in batch.changes[range ?? batch.changes.indices] {
      var properties = PropertySet()
      for index in change.propertyRange { properties.insert(batch.properties[index].property) }
      append(
        ListChange(ObjectReference(entity: change.entity, row: change.row), properties))
    }
  }

  /// Adds one change.
  package mutating func append(_ change: ListChange) {
    if let last = elements.last, !(last.object < change.object) { isSorted = false }
    elements.append(change)
  }

  /// The net changes of these objects between two states: only properties whose values differ.
  package func net(from old: State, to new: State) throws(StateFault) -> ListChanges {
    var changes = NetChanges(from: old, to: new)
    var result = ListChanges()
    var batch = ChangeBatch()
    for element in elements where try changes.append(element.object, to: &batch) {
      result.append(batch)
      batch.removeAll()
    }
    return result
  }

  /// All differences between two states in the objects of some entities. O(objects).
  package static func all(
    of entities: Set<EntityNumber>, from old: State, to new: State
  ) throws(StateFault) -> ListChanges {
    var result = ListChanges()
    for entity in entities.sorted() {
      var rows = (old.rows(of: entity), new.rows(of: entity))
      var next = (try rows.0.next(), try rows.1.next())
      while let row = [next.0, next.1].compactMap({ $0 }).min() {
        result.append(ListChange(ObjectReference(entity: entity, row: row), PropertySet()))
        if next.0 == row { next.0 = try rows.0.next() }
        if next.1 == row { next.1 = try rows.1.next() }
      }
    }
    return try result.net(from: old, to: new)
  }

  /// Sorts the changes, and merges those of one object. O(n log n).
  package mutating func merge() {
    guard !isSorted else { return }
    sort()
    var count = 0
    for index in elements.indices.dropFirst() {
      if elements[index].object == elements[count].object {
        elements[count].properties.formUnion(elements[index].properties)
      } else {
        count += 1
        elements[count] = elements[index]
      }
    }
    elements.removeLast(elements.count - count - 1)
    isSorted = true
  }

  private mutating func sort() {
    let entity = elements[0].object.entity
    if elements.allSatisfy({ $0.object.entity == entity }) {
      elements.sort(byWord: { UInt64(bitPattern: $0.object.row) })
    } else {
      elements.sort { $0.object < $1.object }
    }
  }

  /// What changed of an object; nil if nothing. O(log n), after `merge`.
  package func properties(of object: ObjectReference) -> PropertySet? {
    let place = elements.rank { $0.object < object }
    guard place < elements.count, elements[place].object == object else { return nil }
    return elements[place].properties
  }
}
