import Annals
import AnnalsModel
import Testing

/// Unique and equal mean the same: no two objects that a condition holds equal pass a unique rule.
///
/// Keys are bytes by kind, so 0.0 and -0.0 used to be two, and 1 and 1.0 in a column of any kind.
@Suite struct EqualKeyTests {
  private static let schema = Schema {
    Entity("Point") {
      Attribute("weight", .double, isUnique: true)
      Attribute("name", .any, isUnique: true)
      Attribute("x", .double)
      Attribute("label", .string)
      Attribute("isOld", .bool)
      IndexDescription("spot", ["label", "x"], isUnique: true)
      IndexDescription("live", ["x"], isUnique: true, where: .compare("isOld", .equal, true))
    }
  }

  private func insert(_ store: Store, _ values: [String: Value]) throws -> AnnalsError? {
    do {
      try store.write { _ = try $0.insert("Point", values) }
      return nil
    } catch let error as AnnalsError {
      return error
    }
  }

  @Test(
    arguments: [
      ("weight", 0.0, -0.0, true), ("weight", -0.0, 0.0, true), ("weight", 1.0, -1.0, false),
      ("name", 1, 1.0, true), ("name", 1.0, 1, true), ("name", 0, -0.0, true),
      ("name", -0.0, 0.0, true), ("name", 1.5, 1, false), ("name", 1, true, false),
      ("name", "1", 1, false), ("name", .int(1 << 53 + 1), .double(0x1p53), false),
      ("name", .int(1 << 60), .double(0x1p60), true), ("name", .int(.max), .double(0x1p63), false),
      ("name", .int(.min), .double(-0x1p63), true),
    ] as [(String, Value, Value, Bool)])
  func equalValuesCollide(_ name: String, _ first: Value, _ second: Value, _ areEqual: Bool) throws
  {
    let store = try Store(.memory, schema: EqualKeyTests.schema, environment: .fixed())
    #expect(try insert(store, [name: first]) == nil)
    let condition = Condition.compare(PropertyPath(name), .equal, second)
    let fetch = DynamicFetch("Point").where(condition)
    #expect(try store.snapshot().count(fetch) == (areEqual ? 1 : 0))
    let error = try insert(store, [name: second])
    #expect(error?.code == (areEqual ? .invalidChange : nil))
    if areEqual {
      #expect(
        error?.violations.map(\.rule)
          == [.unique(ObjectReference(entity: 1, row: 1))])
    }
    // Both in one transaction; one that takes the other's place.
    let empty = try Store(.memory, schema: EqualKeyTests.schema, environment: .fixed())
    var both: AnnalsError?
    do {
      try empty.write { tx in
        try tx.insert("Point", [name: first])
        _ = try tx.insert("Point", [name: second])
      }
    } catch let error as AnnalsError {
      both = error
    }
    #expect(both?.code == (areEqual ? .invalidChange : nil))
    try store.write { tx in
      for point in try tx.objects(of: "Point") { try tx.delete(point.objectID) }
      try tx.insert("Point", [name: second])
    }
    try store.write { tx in
      try tx.update(tx.objects(of: "Point")[0].objectID, [name: first])
    }
    #expect(try store.verifyHistory() == [])
  }

  @Test func rulesOverSeveralPropertiesAndPartialOnesCollide() throws {
    let store = try Store(.memory, schema: EqualKeyTests.schema, environment: .fixed())
    #expect(try insert(store, ["label": "a", "x": 0.0]) == nil)
    #expect(try insert(store, ["label": "b", "x": -0.0]) == nil)
    #expect(try insert(store, ["label": "a", "x": -0.0])?.code == .invalidChange)
    let second = try #require(try store.snapshot().objects(of: "Point").last).objectID
    let renamed = #expect(throws: AnnalsError.self) {
      try store.write { try $0.update(second, ["label": "a"]) }
    }
    #expect(renamed?.violations.map(\.property) == ["label, x"])
    // Both are in the partial index only at the end.
    try store.write { tx in
      try tx.update(tx.objects(of: "Point")[0].objectID, ["isOld": true])
    }
    let old = #expect(throws: AnnalsError.self) {
      try store.write { try $0.update(second, ["isOld": true]) }
    }
    #expect(old?.violations.map(\.property) == ["x"])
  }

  @Test func aNewRuleOverEqualValuesIsRefused() throws {
    let store = try Store(
      .memory, schema: Schema { Entity("Point") { Attribute("weight", .double) } },
      environment: .fixed())
    try store.write { tx in
      for weight in [0.0, 1, -0.0] { try tx.insert("Point", ["weight": .double(weight)]) }
    }
    let error = #expect(throws: AnnalsError.self) {
      try store.require(
        Schema { Entity("Point") { Attribute("weight", .double, isUnique: true) } })
    }
    #expect(error?.violations.map(\.object?.row) == [3])
  }
}
