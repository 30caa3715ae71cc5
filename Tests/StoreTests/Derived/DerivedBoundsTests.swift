import Annals
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

/// Derived attributes of more objects than are computed at a time: none is left out at the end of
/// a part.
@Suite struct DerivedBoundsTests {
  private static func schema(isDerived: Bool) -> Schema {
    Schema {
      Entity("Node") {
        Attribute("name", .string, isOptional: false, default: "")
        if isDerived {
          Attribute("key", .string, isOptional: false, default: "", derived: .normalized("name"))
          Attribute("size", .int64, derived: .count("kids"))
          Attribute("sizes", .int64, derived: .sum("kids", of: "size"))
        }
        Relationship("owner", to: "Node", onDelete: .nullify, inverse: "kids")
      }
    }
  }

  /// Each node is in the one before.
  @Test(arguments: [4_097]) func everyObjectHasItsValue(_ count: Int) throws {
    let file = memoryFile()
    var store = try Store(file, schema: Self.schema(isDerived: false), environment: .fixed())
    try store.write { tx in
      var last: ObjectID?
      for number in 0..<count {
        let owner = last.map { Value.object(ObjectReference($0)) } ?? .null
        last = try tx.insert("Node", ["name": .string("N\(number)"), "owner": owner])
      }
    }
    try store.close()
    store = try Store(file, schema: Self.schema(isDerived: true), environment: .fixed())
    try compare(store, count, "N", "added")
    try store.write { tx in
      for node in try tx.objects(of: "Node") {
        guard case .string(let name) = node["name"] else { continue }
        try tx.update(node.objectID, ["name": .string("M" + name.dropFirst())])
      }
    }
    try compare(store, count, "M", "changed")
    // Nobody has a child any more but the last one, which has all.
    let ids = try store.snapshot().objects(of: "Node").map(\.objectID)
    let last = try #require(ids.last)
    try store.write { tx in
      for id in ids { try tx.update(id, ["owner": .object(ObjectReference(last))]) }
    }
    let sizes = try store.snapshot().objects(of: "Node").map { $0["size"] }
    #expect(sizes.dropLast().allSatisfy { $0 == 0 } && sizes.last == .int(Int64(count)))
    #expect(try store.problems() == [])
  }

  private func compare(_ store: Store, _ count: Int, _ letter: String, _ place: String) throws {
    let nodes = try store.snapshot().objects(of: "Node")
    #expect(nodes.count == count)
    let wrong = nodes.enumerated().filter { number, node in
      let left = count - 1 - number
      return node["key"] != .string("\(letter.lowercased())\(number)")
        || node["size"] != .int(min(Int64(left), 1)) || node["sizes"] != .int(left > 1 ? 1 : 0)
    }
    #expect(wrong.isEmpty, "\(place): \(wrong.prefix(3).map(\.element))")
  }
}
