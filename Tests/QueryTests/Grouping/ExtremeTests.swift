import AnnalsModel
import AnnalsQuery
import AnnalsState
import Testing

/// The least and the greatest value are those that come first and last in the order of sort keys.
@Suite struct ExtremeTests {
  @Test(arguments: [[0.0, -0.0], [-0.0, 0.0], [1, 0.0, -0.0, -0.0], [-1, -0.0, 0.0]])
  func `of zeros the negative one is less`(numbers: [Double]) throws {
    let model = NoteModel(seed: 1)
    for number in numbers {
      let row = try model.state.insertRow(1)
      try model.state.set(1, row, NoteModel.real, to: .double(number))
      try model.state.set(1, row, NoteModel.anything, to: .double(number))
    }
    let sources = ConditionSources(largeValue: { _ in [] }, removingDiacritics: { $0 })
    for path: PropertyPath in ["real", "anything"] {
      let group = GroupQuery(
        .all, [Aggregate(.minimum, of: path), Aggregate(.maximum, of: path)])
      let plan = try GroupPlan(group, of: RowQuery(entity: 1), in: model.state, sources)
      let values = try #require(try plan.groups().first).values
      let sorted = try RowOrder(
        [SortKey(path)], areTiesDescending: false, of: 1, in: model.state, { _ in [] }
      ).sorted(try NoteModel.rows(model.state))
      let ends = try [sorted[0], sorted[numbers.count - 1]].map {
        try model.state.value(1, $0, NoteModel.real)
      }
      #expect(bits(values) == bits(ends))
    }
  }

  private func bits(_ values: [Value]) -> [UInt64?] {
    values.map { if case .double(let number) = $0 { number.bitPattern } else { nil } }
  }
}
