import AnnalsModel
import AnnalsQuery
import AnnalsState
import AnnalsTestSupport
import Testing

/// Whatever index serves, a query finds what comparing boxed values finds.
@Suite struct PlanTests {
  private static let sources = ConditionSources(
    largeValue: { _ in [] }, removingDiacritics: { $0 })

  /// The plan by an index; nil if it cannot serve.
  private func plan(_ query: RowQuery, _ indexes: IndexChoice, _ state: State) throws -> QueryPlan?
  {
    var query = query
    query.indexes = indexes
    do throws(StateFault) {
      return try QueryPlan(query, in: state, Self.sources)
    } catch {
      guard case .query(.noSuchIndex, _) = error else { throw error }
      return nil
    }
  }

  @Test(arguments: 1...(isLong ? 60 : 6) as ClosedRange<UInt64>)
  func `every index finds what boxed values do`(seed: UInt64) throws {
    var world = try PlanWorld(seed: seed, count: 200)
    let names = PlanWorld.entity().indexes.map(\.name) + ["page"]
    var served = 0
    for step in 0..<40 {
      let query = world.query()
      let (all, ordered) = world.expected(query)
      for indexes in [.automatic, .none] + names.map({ IndexChoice.named($0) }) {
        guard let plan = try plan(query, indexes, world.state) else { continue }
        served += 1
        let (count, rows) = (try plan.countAll(), try plan.rows())
        // Rows that must be sorted are all that there are, unless none is wanted.
        let isRight =
          plan.isInOrder || query.limit == 0 ? rows == ordered : rows.sorted() == all
        if count == all.count, isRight { continue }
        Issue.record(
          """
          seed \(seed), step \(step), \(indexes): \(query.condition) by \(query.keys), \
          ties fall: \(query.areTiesDescending): \(count) \(rows), not \(all.count) \(ordered)
          """)
      }
    }
    #expect(served > 120)
  }

  @Test func `ties of a descending unique index`() throws {
    var world = try PlanWorld(seed: 1, count: 0)
    for number in 0..<1_000 {
      let row = try world.state.insertRow(1)
      try world.state.set(1, row, 1, to: .int(Int64(number)))
      try world.state.set(1, row, 5, to: .string("x"))
    }
    #expect(try world.state.checkUniqueness() == [])
    let condition = Condition.isIn("n", [.int(1), .int(2), .int(3)])
      .and(.compare("text", .equal, .string("x")))
    for isDescending in [false, true] {
      let query = RowQuery(
        entity: 1, condition: condition, keys: [SortKey("n", isDescending: isDescending)],
        areTiesDescending: isDescending)
      let plan = try #require(try plan(query, .automatic, world.state))
      #expect(plan.description.hasPrefix("by index `index 20`: 3 of 1000 objects"))
      #expect(try plan.rows() == (isDescending ? [4, 3, 2] : [2, 3, 4]))
    }
  }

  @Test func `nothing is less than NaN`() throws {
    let world = try PlanWorld(seed: 2, count: 300)
    for condition in [
      Condition.compare("x", .less, .double(.nan)), .compare("x", .equal, .double(.nan)),
      .isBetween("x", .int(-1), .double(.nan)), .isIn("x", [.double(.nan)]),
    ] {
      let query = RowQuery(entity: 1, condition: condition, keys: [.ascending("x")])
      for indexes in [IndexChoice.automatic, .named("index 23")] {
        #expect(try plan(query, indexes, world.state)?.countAll() == 0, "\(condition)")
      }
    }
  }

  @Test(
    arguments: [
      (.compare("page", .equal, .url("a:7")), "page"),
      (.compare("link", .equal, .url("ab")), "index 26"),
      (.isIn("link", [.url("b"), .url("é")]), "index 26"),
      (.compare("json", .less, .json("a")), "index 27"),
      (.compare("data", .equal, .data([97, 98])), "index 28"),
    ] as [(Condition, String)])
  func `indexes of urls, json and data serve`(condition: Condition, index: String) throws {
    let world = try PlanWorld(seed: 3, count: 300)
    let query = RowQuery(entity: 1, condition: condition)
    let plan = try #require(try plan(query, .automatic, world.state))
    #expect(plan.description.hasPrefix("by index `\(index)`: "))
    let all = world.expected(query).all
    #expect(try plan.countAll() == all.count && plan.rows().sorted() == all)
  }

  @Test func `an index without elements serves nothing`() throws {
    var entity = PlanWorld.entity()
    entity.indexes[0].elements = []
    var state = State(schema: Schema(entities: [entity]))
    let row = try state.insertRow(1)
    let path = PropertyPath("n").replacing(ValueReplacement(missing: .int(7)))
    let query = RowQuery(entity: 1, condition: .compare(path, .equal, .int(7)))
    #expect(try plan(query, .automatic, state)?.rows() == [row])
  }
}
