import Annals
import AnnalsModel
import Foundation
import Testing

private struct Address: JSONValue, Equatable {
  var street: String
  var city: String?
  var since: Date?
  var weights: [Double] = []
}

private enum Shape: JSONValue, Equatable {
  case point
  case circle(radius: Double)
}

private struct Shop: Record, Equatable {
  var name: String
  var address: Address
  var former: Address?
  var shape: Shape
  static let entity = RecordEntity(
    "Shop", Shop.init, Property("name", \.name), Property("address", \.address),
    Property("former", \.former), Property("shape", \.shape))
}

/// Any Codable type as JSON.
@Suite struct JSONValueTests {
  private let store: Store
  private let kyoto = Address(
    street: "1/2 \"Main\"", city: "京都", since: Date(timeIntervalSince1970: 1.000001), weights: [0.5]
  )

  init() throws { store = try Store(.memory, records: Shop.self) }

  @Test func whatIsWrittenIsRead() throws {
    let shop = Shop(name: "a", address: kyoto, former: nil, shape: .circle(radius: 2))
    let id = try store.write { try $0.insert(shop).objectID }
    #expect(try store.snapshot().object(Shop.self, id)?.value == shop)
    let stored = try store.snapshot().object(id)
    let text =
      #"{"city":"京都","since":"1970-01-01T00:00:01.000001Z","street":"1/2 \"Main\"","#
      + #""weights":[0.5]}"#
    #expect(stored?["address"] == .json(text))
    #expect(store.schema.entity(named: "Shop")?.attribute(named: "address")?.type == .json)
    // Long values, too.
    let long = Address(street: String(repeating: "x", count: 10_000))
    try store.write { try $0.set(\Shop.former, of: id, to: long) }
    #expect(try store.snapshot().object(Shop.self, id)?.former == long)
    let before = store.token
    try store.write { try $0.update(Shop.self, id) { $0.former = long } }
    #expect(store.token == before)
  }

  @Test func conditionsCompareWholeValues() throws {
    try store.write { tx in
      try tx.insert(Shop(name: "a", address: kyoto, former: nil, shape: .point))
      try tx.insert(Shop(name: "b", address: Address(street: "x"), former: kyoto, shape: .point))
    }
    let snapshot = store.snapshot()
    #expect(try snapshot.fetch(Fetch(Shop.self).where(\.address == kyoto)).map(\.name) == ["a"])
    #expect(try snapshot.fetch(Fetch(Shop.self).where(\.former == nil)).map(\.name) == ["a"])
    #expect(try snapshot.fetch(Fetch(Shop.self).where(\.shape == .point)).count == 2)
  }

  @Test func whatCannotBeEncodedOrDecodedIsAnError() throws {
    let bad = Shop(
      name: "a", address: Address(street: "", weights: [.infinity]), former: nil, shape: .point)
    let error = #expect(throws: AnnalsError.self) { try store.write { try $0.insert(bad) } }
    #expect(error?.code == .invalidChange && error?.violations.map(\.property) == ["address"])
    let id = try store.write { tx in
      try tx.insert("Shop", ["name": "a", "address": .json("{}"), "shape": .json("[]")])
    }
    let unreadable = #expect(throws: AnnalsError.self) {
      try store.snapshot().object(Shop.self, id)
    }
    #expect(unreadable?.code == .unreadableRecord)
    #expect(unreadable?.description.contains("Shop#1.address") == true)
  }
}
