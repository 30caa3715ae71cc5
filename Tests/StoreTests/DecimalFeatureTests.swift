import Annals
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsTestSupport
import Testing

/// A file says that it has decimals or days from the first value or definition of them on, and not
/// before.
@Suite struct DecimalFeatureTests {
  private func decimal(_ text: String) -> Value { .decimal(RawDecimal(text) ?? .zero) }

  private func made(_ attributes: [Attribute] = []) throws -> Store {
    let store = try Store(.memory)
    try store.require(
      Schema(entities: [
        Entity(
          "Thing",
          attributes: [Attribute("id", .int64, isUnique: true), Attribute("value", .any)]
            + attributes)
      ]))
    return store
  }

  private func isAnnounced(_ store: Store) -> Bool {
    store.version.view.features.contains(.decimalsAndDays)
  }

  @Test func otherValuesAnnounceNothing() throws {
    let store = try made()
    try store.write(metadata: ["note": "12.5"]) { tx in
      try tx.insert("Thing", ["id": 1, "value": 12.5])
      try tx.insert("Thing", ["id": 2, "value": "2019-10-06"])
    }
    #expect(!isAnnounced(store))
    #expect(try store.verify().isEmpty)
  }

  @Test(arguments: [Value.decimal(RawDecimal(7)), .day(.latest)])
  func aValueInAny(value: Value) throws {
    let store = try made()
    try store.write { tx in try tx.insert("Thing", ["id": 1]) }
    #expect(!isAnnounced(store))
    try store.write { tx in
      guard let thing = try tx.object(of: "Thing", where: "id", is: 1) else { return }
      try tx.update(thing.id, ["value": value])
    }
    #expect(isAnnounced(store))
    #expect(try store.verify().isEmpty)
    _ = try store.compact()
    #expect(isAnnounced(store))
    #expect(try store.snapshot().object(of: "Thing", where: "id", is: 1)?["value"] == value)
  }

  @Test(arguments: [
    Attribute("a", .decimal), Attribute("a", .day),
    Attribute("a", .any, default: .day(.earliest)),
    Attribute("a", .any, validation: Validation(oneOf: [.decimal(.zero), .int(1)])),
  ])
  func aDefinition(attribute: Attribute) throws {
    let store = try made([attribute])
    #expect(isAnnounced(store))
    #expect(try store.verify().isEmpty)
  }

  @Test func metadata() throws {
    let store = try made()
    try store.write(metadata: ["rate": decimal("1.25")]) { tx in try tx.insert("Thing", ["id": 1]) }
    #expect(isAnnounced(store))
    #expect(try store.transaction(store.token.number).metadata["rate"] == decimal("1.25"))
  }

  /// The first part is written before the last object is looked at.
  @Test(arguments: [true, false]) func theLastOfManyObjects(isDecimal: Bool) throws {
    let store = try made([Attribute("text", .string)])
    try store.write { tx in
      for number in 0..<2_600 {
        let isLast = number == 2_599
        let value: Value = isLast && isDecimal ? decimal("0.1") : .int(Int64(number))
        let text = Value.string(String(repeating: "\(number) ", count: 500))
        try tx.insert("Thing", ["id": .int(Int64(number)), "value": value, "text": text])
      }
    }
    #expect(isAnnounced(store) == isDecimal)
    #expect(try store.verify().isEmpty)
  }

  /// Integers, doubles and decimals that are equal are one key.
  @Test func uniqueMeansEqual() throws {
    let store = try Store(.memory)
    try store.require(
      Schema(entities: [Entity("Thing", attributes: [Attribute("key", .any, isUnique: true)])]))
    let keys: [Value] = [1, 2.5, decimal("3"), decimal("0.1"), 0.1]
    for key in keys { try store.write { tx in _ = try tx.insert("Thing", ["key": key]) } }
    for key in [decimal("1.0"), decimal("2.50"), 3, 3.0, decimal("0.1")] {
      let error = #expect(throws: AnnalsError.self, "\(key)") {
        try store.write { tx in _ = try tx.insert("Thing", ["key": key]) }
      }
      #expect(error?.code == .invalidChange)
    }
    func found(_ value: Value) throws -> Int {
      try store.snapshot().count(DynamicFetch("Thing").where(.compare("key", .equal, value)))
    }
    for value in [Value.int(1), .double(1), decimal("1"), .double(2.5), decimal("2.5"), .int(3)] {
      #expect(try found(value) == 1, "\(value)")
    }
    let sorted = DynamicFetch("Thing").sorted(by: [SortKey("key")])
    #expect(
      try store.snapshot().fetch(sorted).map { $0["key"] }
        == [decimal("0.1"), 0.1, 1, 2.5, decimal("3")])
  }
}
