import AnnalsModel
import AnnalsState

extension TimelineColumns {
  /// Reads the objects of an entity by a definition. O(objects).
  package init(
    _ definition: TimelineDefinition, of entity: EntityNumber, in state: State,
    _ sources: ConditionSources
  ) throws(StateFault) {
    self.init()
    guard state.count(of: entity) > 0 else { return }
    let reading = try TimelineReading(definition, of: entity, in: state, sources)
    hasWrittenDates = reading.hasWrittenDates
    var numbering = ValueNumbering()
    try reading.scan.forEachRow { row, cells, endCounts in
      read(
        ObjectReference(entity: entity, row: row), cells, endCounts, reading, &numbering)
    }
    groups = numbering.values
  }

  /// Appends an object with these values, or notes why it has no place.
  mutating func read(
    _ object: ObjectReference, _ cells: UnsafeBufferPointer<RowCell>, _ endCounts: Bool,
    _ reading: TimelineReading, _ numbering: inout ValueNumbering
  ) {
    let standing = reading.standing(cells, endCounts: endCounts)
    if case .absent(let reason) = standing { return unplaced.append((object, reason)) }
    guard case .placed(let start, let end, let kind, let marks) = standing else { return }
    append(object, start: start, end: end, kind: kind, marks: marks)
    if let place = reading.group {
      let cell = cells[place]
      // A text stored as a large value cannot name a group, nor can an erased value.
      let isGroup =
        !cell.cell.isNull && !cell.cell.isLarge && cell.cell.tag != .objects
        && cell.cell.tag != .erased
      appendGroup(isGroup ? numbering.number(of: cell.cell, in: cell.arena) : nil)
    }
    if let place = reading.label {
      let cell = cells[place]
      if cell.cell.tag.isText, !cell.cell.isLarge {
        appendLabel(cell.cell.bytes(in: cell.arena))
      } else {
        appendLabel(TimelineReading.text(cell))
      }
    }
    if reading.hasTexts {
      let end = reading.end.map { cells[$0] }
      let isShown = kind == .range || marks.contains(.unreadableEnd)
      appendTexts(
        start: TimelineReading.written(reading.start.map { cells[$0] }),
        end: TimelineReading.written(isShown ? end : nil))
    }
  }
}

/// A timeline definition bound to a state.
struct TimelineReading {
  let scan: RowScan
  /// The indexes of the values among those read.
  let start: Int?
  let end: Int?
  let group: Int?
  let label: Int?
  let hasWrittenDates: Bool
  /// Whether dates are texts.
  let hasTexts: Bool
  private let openness: Openness

  private enum Openness {
    case never
    case whenEndIsNil
    case flag(Int)
    case kind(Int, TimelineDefinition.KindValues)
  }

  /// What a date attribute holds.
  enum Moment {
    case none
    case unreadable
    case at(Int64)

    init(_ cell: RowCell) {
      switch cell.cell.tag {
      case .null, .erased: self = .none
      case .date: self = .at(Int64(bitPattern: cell.cell.bits))
      case .day:
        let day = CalendarDay(nearestTo: Int64(bitPattern: cell.cell.bits))
        self = .at(day.startInUTC.microseconds)
      case .string where !cell.cell.isLarge:
        let moment = WrittenDate(cell.cell.bytes(in: cell.arena))?.firstMoment
        self = moment.map { .at($0.microseconds) } ?? .unreadable
      default: self = .unreadable
      }
    }
  }

  init(
    _ definition: TimelineDefinition, of entity: EntityNumber, in state: State,
    _ sources: ConditionSources
  ) throws(StateFault) {
    var paths: ContiguousArray<BoundPath> = []
    func bind(_ path: PropertyPath) throws(StateFault) -> Int {
      paths.append(try BoundPath(path, from: entity, in: state))
      return paths.count - 1
    }
    var isText = false
    var isDay = false
    func date(_ path: PropertyPath) throws(StateFault) -> Int {
      let place = try bind(path)
      guard case .attribute(let attribute) = paths[place].end,
        [.date, .day, .string, .any].contains(attribute.type)
      else {
        throw .query(
          .unsuitable, "\"\(path)\" is neither a date, nor a day, nor a text that may hold one")
      }
      isText = isText || attribute.type == .string || attribute.type == .any
      isDay = isDay || attribute.type == .day
      return place
    }
    start = definition.hasNoStart ? nil : try date(definition.start)
    if let path = definition.end { end = try date(path) } else { end = nil }
    switch definition.openEnd {
    case .never: openness = .never
    case .whenEndIsNil: openness = .whenEndIsNil
    case .flag(let path):
      let place = try bind(path)
      guard case .attribute(let attribute) = paths[place].end,
        [.bool, .any].contains(attribute.type)
      else {
        throw .query(.unsuitable, "\"\(path)\" is not of type bool")
      }
      openness = .flag(place)
    case .kind(let path, let values):
      let place = try bind(path)
      for value in [values.single, values.range, values.ongoing] {
        try paths[place].requireComparable(value, path)
      }
      openness = .kind(place, values)
    }
    if let path = definition.group { group = try bind(path) } else { group = nil }
    if let path = definition.label {
      label = try bind(TimelineReading.naming(path, of: entity, in: state.schema))
    } else {
      label = nil
    }
    hasWrittenDates = isText || isDay
    hasTexts = isText
    var filter: BoundCondition?
    if let condition = definition.condition {
      filter = try BoundCondition(condition, over: entity, in: state, sources)
    }
    var test: BoundCondition?
    if let condition = definition.endCondition {
      test = try BoundCondition(condition, over: entity, in: state, sources)
    }
    scan = RowScan(paths, over: entity, in: state, where: filter, testing: test)
  }

  /// The path to what names the object that a to-one path leads to; any other path as it is.
  static func naming(
    _ path: PropertyPath, of number: EntityNumber, in schema: Schema
  ) -> PropertyPath {
    var entity = schema.entity(numbered: number)
    for name in path.names {
      guard let relationship = entity?.relationship(named: name) else { return path }
      entity = schema.entity(numbered: relationship.destination)
    }
    guard let entity, let name = entity.displayName ?? entity.keyAttribute?.name else {
      return path
    }
    return PropertyPath(path.names + [name])
  }

  /// What a row shows besides its dates.
  struct Shown: Equatable {
    var label = Value.null
    var group = Value.null
  }

  /// The label and the group of an object; nothing if there is none. Large values are not read.
  func shown(of row: Int64) throws(StateFault) -> Shown {
    var shown = Shown()
    _ = try scan.readRow(row) { cells, _ in
      if let label { shown.label = cells[label].cell.value(in: cells[label].arena) }
      if let group { shown.group = cells[group].cell.value(in: cells[group].arena) }
    }
    return shown
  }

  /// What an object is on the timeline.
  enum Standing: Equatable {
    case absent(TimelineAbsence)
    case placed(start: Int64, end: Int64, TimelineKind, TimelineMarks)
  }

  /// What an object is.
  func standing(_ cells: UnsafeBufferPointer<RowCell>, endCounts: Bool) -> Standing {
    switch start.map({ Moment(cells[$0]) }) ?? .none {
    case .none: return .absent(.noStart)
    case .unreadable: return .absent(.unreadableStart)
    case .at(let moment):
      let (kind, end, marks) = kind(cells, endCounts: endCounts)
      guard isDay(start, cells), kind != .range || isDay(self.end, cells) else {
        return .placed(start: moment, end: end, kind, marks)
      }
      let isOneDay = kind == .range && end == moment
      return .placed(
        start: moment, end: isOneDay ? 0 : end, isOneDay ? .single : kind, marks.union(.days))
    }
  }

  /// Whether a value is a day.
  private func isDay(_ place: Int?, _ cells: UnsafeBufferPointer<RowCell>) -> Bool {
    place.map { cells[$0].cell.tag == .day } ?? false
  }

  private func kind(
    _ cells: UnsafeBufferPointer<RowCell>, endCounts: Bool
  ) -> (TimelineKind, end: Int64, TimelineMarks) {
    guard endCounts else { return (.single, 0, []) }
    switch openness {
    case .flag(let place):
      let cell = cells[place].cell
      if cell.tag == .bool, cell.bits & 1 == 1 { return (.ongoing, 0, []) }
    case .kind(let place, let values):
      let value = cells[place].cell.value(in: cells[place].arena)
      if value == values.ongoing { return (.ongoing, 0, []) }
      if value == values.single { return (.single, 0, []) }
    case .never, .whenEndIsNil: break
    }
    switch end.map({ Moment(cells[$0]) }) ?? .none {
    case .at(let moment): return (.range, moment, [])
    case .unreadable: return (.single, 0, .unreadableEnd)
    case .none:
      if case .whenEndIsNil = openness { return (.ongoing, 0, []) }
      return (.single, 0, [])
    }
  }

  /// A date as it is written; nothing for one that is no text.
  static func written(_ cell: RowCell?) -> UnsafeRawBufferPointer {
    guard let cell, cell.cell.tag == .string, !cell.cell.isLarge else {
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
    return cell.cell.bytes(in: cell.arena)
  }

  /// A value that is no text as the name of an object.
  static func text(_ cell: RowCell) -> String {
    guard !cell.cell.isLarge else { return "" }
    let value = cell.cell.value(in: cell.arena)
    switch value {
    case .double(let number): return number.description
    case .bool, .int, .date, .uuid, .decimal, .day, .object: return value.plainText
    default: return ""
    }
  }
}
