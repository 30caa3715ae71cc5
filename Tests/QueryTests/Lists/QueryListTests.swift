import AnnalsModel
import AnnalsQuery
import AnnalsState
import AnnalsTestSupport
import Foundation
import Testing

/// A list that is moved on has the rows, sections and differences that filtering and sorting all
/// objects gives.
@Suite struct QueryListTests {
  /// What is asked of notes, and the same of boxed values.
  private typealias Question = (Condition, @Sendable (NaiveSort, Int64) throws -> Bool)

  private static let questions: [Question] = [
    (.always, { _, _ in true }),
    (
      .compare("whole", .greater, .int(0)),
      { naive, row in
        if case .int(let number) = try naive.value(row, SortKey("whole")) {
          number > 0
        } else {
          false
        }
      }
    ),
    (.isNil("text"), { naive, row in try naive.value(row, SortKey("text")).isNull }),
    (
      .compare(["folder", "name"], .notEqual, .string("folder 1")),
      { naive, row in try naive.value(row, SortKey(["folder", "name"])) != .string("folder 1") }
    ),
    (
      Condition.isNil(["folder", "parent"]).or(.isNil("real")),
      { naive, row in
        try naive.value(row, SortKey(["folder", "parent"])).isNull
          || naive.value(row, SortKey("real")).isNull
      }
    ),
    (
      Condition.compare(["folder", "parent", "name"], .equal, .string("folder 2")).negated,
      { naive, row in
        try naive.value(row, SortKey(["folder", "parent", "name"])) != .string("folder 2")
      }
    ),
  ]

  /// A list with its naive double.
  private struct Trial {
    var list: QueryList
    let question: Question
    var buckets: CalendarBuckets?

    init(_ model: NoteModel) throws {
      question = questions[model.random.below(questions.count)]
      let keys = (0..<model.random.below(3)).map { _ in RowOrderTests.key(&model.random) }
      var rows = RowQuery(
        entity: 1, condition: question.0, keys: keys,
        areTiesDescending: keys.last?.isDescending ?? false)
      if model.random.chance(30) { rows.limit = model.random.below(40) }
      if model.random.chance(20) { rows.offset = model.random.below(20) }
      var sections: (PropertyPath, SectionRule)?
      switch model.random.below(4) {
      case 0: sections = ("date", .calendar(.month, try #require(TimeZone(identifier: "CET"))))
      case 1: sections = (["folder", "name"], .value)
      case 2: sections = (keys.first?.path ?? "text", .value)
      default: break
      }
      var order: [Value] = []
      if let sections, sections.1 == .value, model.random.chance(60) {
        order = RowOrderTests.listed(sections.0, model)
      }
      let query = ListQuery(
        rows, sections: sections.map { (path: $0.0, rule: $0.1) }, order: order)
      list = try QueryList(query, in: model.state, listSources)
      if case .calendar(let unit, let zone) = query.sections {
        buckets = CalendarBuckets(unit, timeZone: zone)
      }
    }

    var naive: NaiveSort {
      NaiveSort(
        keys: list.query.rows.keys, areTiesDescending: list.query.rows.areTiesDescending,
        state: list.state)
    }

    /// The rows by section, as plain as can be.
    mutating func expected() throws -> [[Int64]] {
      let naive = naive
      let all = try naive.sorted(
        try NoteModel.rows(list.state).filter { try question.1(naive, $0) })
      let query = list.query.rows
      let shown = all.dropFirst(query.offset).prefix(query.limit ?? .max)
      guard list.query.sections != nil, let key = query.keys.first else { return [Array(shown)] }
      var result: [[Int64]] = []
      for row in shown {
        if let last = result.last?.last, try isSame(last, row, key) {
          result[result.count - 1].append(row)
        } else {
          result.append([row])
        }
      }
      return result
    }

    private mutating func isSame(_ a: Int64, _ b: Int64, _ key: SortKey) throws -> Bool {
      let (x, y) = (try naive.value(a, key), try naive.value(b, key))
      if case .date(let x) = x, case .date(let y) = y, buckets != nil {
        return buckets?.bucket(containing: x) == buckets?.bucket(containing: y)
      }
      return NaiveSort.compare(x, y, key) == 0
    }
  }

  private static let listSources = ListSources(
    ConditionSources(largeValue: { _ in [] }, removingDiacritics: { $0 }), { _ in [] })

  private static func check(_ trial: inout Trial, _ comment: Comment) throws -> [[Int64]] {
    let expected = try trial.expected()
    let flat = expected.flatMap(\.self)
    let list = trial.list
    #expect(list.rows(in: 0..<list.count) == flat, comment)
    if list.query.sections != nil {
      #expect(list.sectionCount == expected.count, comment)
      #expect(
        (0..<list.sectionCount).map { list.rows(in: list.range(ofSection: $0)) } == expected,
        comment)
    }
    for (position, row) in flat.enumerated() where position % 11 == 0 {
      #expect(list.row(at: position) == row, comment)
      #expect(try list.positions(of: row) == [position], comment)
      let place = list.place(of: position)
      #expect(expected[place.section][place.item] == row && place.position == position, comment)
    }
    let hidden = Set(try NoteModel.rows(list.state)).subtracting(flat).prefix(5)
    for row in hidden where row % 3 == 0 { #expect(try list.positions(of: row).isEmpty, comment) }
    return expected
  }

  /// What only the rows that moved may have: other keys, or another section.
  private static func checkMoves(
    _ diff: ListDiff, _ old: Trial, _ new: Trial, _ oldRows: [Int64], _ comment: Comment
  ) throws {
    for move in diff.moves {
      let row = oldRows[move.from.position]
      let differs = try old.list.query.rows.keys.contains { key in
        NaiveSort.compare(try old.naive.value(row, key), try new.naive.value(row, key), key) != 0
      }
      #expect(differs, "\(comment): \(row) moved, though its keys did not change")
    }
  }

  private static func checkChanges(
    _ diff: ListDiff, _ touched: NoteModel.Touched, _ oldRows: [Int64], _ newRows: [Int64],
    _ comment: Comment
  ) {
    var named: [Int64: Set<PropertyNumber>] = [:]
    for step in diff.moves + diff.updates {
      let row = newRows[step.to.position]
      #expect(row == oldRows[step.from.position], comment)
      #expect(named[row] == nil, comment)
      named[row] = Set(
        diff.changedProperties(of: step).compactMap { name in
          NoteModel.names.firstIndex(of: name).map { PropertyNumber($0 + 1) }
        })
    }
    let common = Set(oldRows).intersection(newRows)
    for row in common {
      let properties = touched[ObjectReference(entity: 1, row: row)] ?? []
      #expect(named[row] ?? [] == properties, "\(comment): row \(row)")
    }
    for step in diff.updates { #expect(named[newRows[step.to.position]] != [], comment) }
    let places = diff.updates.map(\.to.position)
    #expect(places == places.sorted(), comment)
  }

  private static func checkApplied(
    _ diff: ListDiff, _ old: [[Int64]], _ new: [[Int64]], _ comment: Comment
  ) {
    let flat = new.flatMap(\.self)
    let before = old.flatMap(\.self)
    var rows = before
    diff.apply(to: &rows) { flat[$0.position] }
    #expect(rows == flat, comment)
    var sections = old
    diff.apply(to: &sections) { flat[$0.position] }
    #expect(sections == new, comment)
    for place in diff.inserts + (diff.moves + diff.updates).map(\.to) {
      #expect(new[place.section][place.item] == flat[place.position], comment)
    }
    for place in diff.deletes + (diff.moves + diff.updates).map(\.from) {
      #expect(old[place.section][place.item] == before[place.position], comment)
    }
  }

  private static func changes(_ touched: NoteModel.Touched) -> ListChanges {
    var changes = ListChanges()
    for (object, properties) in touched {
      var set = PropertySet()
      for property in properties { set.insert(property) }
      changes.append(ListChange(object, set))
    }
    changes.merge()
    return changes
  }

  @Test(arguments: 1...(isLong ? 30 : 12) as ClosedRange<UInt64>)
  func `through a random history`(seed: UInt64) throws {
    let model = NoteModel(seed: seed)
    _ = try model.change(seed % 5 == 0 ? 2_000 : 250)
    var trial = try Trial(model)
    let text = "seed \(seed): \(trial.list.query)"
    // The same, of which nobody has a copy: it changes in place.
    var alone = try QueryList(trial.list.query, in: model.state, Self.listSources)
    var old = try Self.check(&trial, "\(text)")
    var first: [Int64] = []
    trial.list.initialDiff().apply(to: &first) { old.flatMap(\.self)[$0.position] }
    #expect(first == old.flatMap(\.self))
    var divided: [[Int64]] = []
    trial.list.initialDiff().apply(to: &divided) { old.flatMap(\.self)[$0.position] }
    #expect(divided == old)
    for step in 0..<25 {
      let comment: Comment = "\(text), step \(step)"
      let before = trial
      let touched = try model.change([1, 1, 3, 20, 300][model.random.below(5)])
      let diff = try trial.list.advance(to: model.state, Self.changes(touched), Self.listSources)
      let new = try Self.check(&trial, comment)
      #expect(
        try alone.advance(to: model.state, Self.changes(touched), Self.listSources) == diff,
        comment)
      #expect(alone.rows(in: 0..<alone.count) == new.flatMap(\.self), comment)
      Self.checkApplied(diff, old, new, comment)
      let (oldRows, newRows) = (old.flatMap(\.self), new.flatMap(\.self))
      Self.checkChanges(diff, touched, oldRows, newRows, comment)
      try Self.checkMoves(diff, before, trial, oldRows, comment)
      if step % 8 == 0 {
        var copy = before
        #expect(try Self.check(&copy, "\(comment), the old list") == old)
      }
      old = new
    }
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `to another query`(seed: UInt64) throws {
    let model = NoteModel(seed: seed)
    _ = try model.change(300)
    var trial = try Trial(model)
    var old = try Self.check(&trial, "seed \(seed)")
    for step in 0..<6 {
      let comment: Comment = "seed \(seed), step \(step)"
      let touched = step % 2 == 0 ? [:] : try model.change(10)
      var next = try Trial(model)
      let new = try Self.check(&next, comment)
      let diff = try next.list.diff(fromOther: trial.list, Self.changes(touched))
      Self.checkApplied(diff, old, new, comment)
      Self.checkChanges(diff, touched, old.flatMap(\.self), new.flatMap(\.self), comment)
      (trial, old) = (next, new)
    }
  }

  @Test func `a turned order moves no more than it has to`() throws {
    let model = NoteModel(seed: 7)
    _ = try model.change(900)
    func list(_ key: SortKey) throws -> QueryList {
      try QueryList(
        ListQuery(RowQuery(entity: 1, keys: [key])), in: model.state, Self.listSources)
    }
    let date = try list(SortKey("date"))
    var same = try list(SortKey("date"))
    #expect(try same.diff(fromOther: date, ListChanges()).isEmpty)
    var turned = try list(SortKey("date", isDescending: true))
    let diff = try turned.diff(fromOther: date, ListChanges())
    #expect(diff.inserts.isEmpty && diff.deletes.isEmpty && diff.updates.isEmpty)
    #expect(diff.moves.count > 50 && diff.moves.count < turned.count)
  }

  @Test func `sections by the calendar want dates`() throws {
    let model = NoteModel(seed: 1)
    let query = ListQuery(
      RowQuery(entity: 1), sections: (path: "text", rule: .calendar(.day, .gmt)))
    #expect(throws: StateFault.self) {
      try QueryList(query, in: model.state, Self.listSources)
    }
  }
}
