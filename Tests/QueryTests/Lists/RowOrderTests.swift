import AnnalsModel
import AnnalsQuery
import AnnalsState
import AnnalsTestSupport
import Testing

/// Rows are in the order in which boxed values are.
@Suite struct RowOrderTests {
  static func key(_ random: inout SeededRandom) -> SortKey {
    let paths: [PropertyPath] = [
      "text", "whole", "real", "date", "anything", "folder", ["folder", "name"], "id",
      ["folder", "parent", "name"], ["folder", "parent"],
    ]
    return SortKey(
      paths[random.below(paths.count)], isDescending: random.chance(50),
      nils: [.byDirection, .first, .last][random.below(3)],
      textOrder: [.binary, .binary, .caseInsensitive, .localized(in: "de_DE")][random.below(4)])
  }

  /// Some values that a key at this path may list, some of them nowhere in the model.
  static func listed(_ path: PropertyPath, _ model: NoteModel) -> [Value] {
    guard let name = path.names.last else { return [] }
    let property = NoteModel.names.firstIndex(of: name).map { PropertyNumber($0 + 1) }
    return (0..<model.random.below(5)).map { _ in
      if name == "name" { return .string("folder \(model.random.below(14))") }
      return property.map(model.value) ?? .object(ObjectReference(entity: 1, row: 3))
    }
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `as boxed values are sorted`(seed: UInt64) throws {
    let model = NoteModel(seed: seed)
    _ = try model.change(seed % 4 == 0 ? 2_500 : 300)
    let rows = try NoteModel.rows(model.state)
    for _ in 0..<8 {
      var keys = (0..<model.random.below(4)).map { _ in Self.key(&model.random) }
      for index in keys.indices where model.random.chance(30) {
        keys[index].order = Self.listed(keys[index].path, model)
      }
      let falls = model.random.chance(50)
      let naive = NaiveSort(keys: keys, areTiesDescending: falls, state: model.state)
      let order = try RowOrder(keys, areTiesDescending: falls, of: 1, in: model.state) { _ in [] }
      let expected = try naive.sorted(rows)
      let text = "seed \(seed): \(keys)"
      #expect(try order.sorted(rows) == expected, "\(text)")
      #expect(try order.sorted(rows.shuffled(using: &model.random)) == expected, "\(text)")
      let (offset, limit) = (model.random.below(9), model.random.below(30))
      let page = Array(expected.dropFirst(offset).prefix(limit))
      #expect(try order.sorted(rows, offset: offset, limit: limit) == page, "\(text)")
      let entries = try order.entries(of: rows)
      #expect(entries.map(\.row) == expected)
      for (a, b) in zip(entries, entries.dropFirst()) {
        #expect(a.word <= b.word, "\(text): \(a.row) \(b.row)")
        #expect(try order.word(of: a.row) == a.word)
        guard a.word == b.word, order.isExact(a.word), let key = keys.first else { continue }
        let order = NaiveSort.compare(try naive.value(a.row, key), try naive.value(b.row, key), key)
        #expect(order == 0, "\(text): \(a.row) \(b.row)")
      }
    }
  }
}
