import Annals
import AnnalsModel

extension FixtureRecipe {
  /// Ordered indexes: keys of every kind, both ways, nulls at both ends, texts that are cut, and an
  /// index of several columns; a second checkpoint behind an insert before all others.
  static func orderedIndexes(in store: Store) throws {
    let types: [(String, AttributeType)] = [
      ("flag", .bool), ("number", .int64), ("price", .double), ("text", .string), ("day", .date),
      ("code", .uuid), ("link", .url), ("bytes", .data), ("notes", .json), ("anything", .any),
    ]
    var entity = Entity("Thing")
    entity.attributes = types.map { Attribute($0.0, $0.1) }
    entity.attributes.append(Attribute("rank", .int32, isOptional: false, default: .int(7)))
    entity.relationships = [Relationship("next", to: "Thing", onDelete: .keep)]
    for (name, _) in types {
      entity.indexes.append(IndexDescription(name, [IndexElement(name)]))
      entity.indexes.append(
        IndexDescription(
          name + " down", [IndexElement(name, isDescending: true, nullsFirst: true)]))
    }
    entity.indexes.append(IndexDescription("next", [IndexElement("next", nullsFirst: false)]))
    entity.indexes.append(
      IndexDescription(
        "three", [IndexElement("flag", isDescending: true), "text", "rank"]))
    entity.indexes += [
      IndexDescription("some", ["number"], where: PartialConditions.some),
      IndexDescription("others", ["text", "rank"], where: PartialConditions.others),
      IndexDescription("once", ["code"], isUnique: true, where: PartialConditions.once),
    ]
    try store.require(Schema(entities: [entity]))
    let beginning = String(repeating: "as long as a key holds, ", count: 12)
    let texts = [
      "", "a", "a\0", "ab", "é", "e\u{301}", beginning, beginning + "b", beginning + "a",
    ]
    try store.write(author: "Ann") { tx in
      for number in 0..<40 {
        let mixed = UInt64(number + 1) &* 0x9E37_79B9_7F4A_7C15
        let text = texts[number % texts.count]
        let values: [String: Value] = [
          "flag": .bool(number % 2 == 0), "number": .int(Int64(number % 6) - 3),
          "price": .double(number % 5 == 0 ? -0.0 : Double(number % 7) - 2.5),
          "text": .string(text), "day": .date(Timestamp(microseconds: Int64(20 - number) << 40)),
          "code": .uuid(RawUUID(high: mixed, low: ~mixed)),
          "link": .url("https://a.example/" + text),
          "bytes": .data([0, UInt8(number % 3), 255]), "notes": .json("{\"n\":\(number % 4)}"),
          "anything": [.int(1), .double(1), .bool(true), .string("1"), .data([1])][number % 5],
        ]
        let kept = values.filter { _ in number % 8 != 7 }
        let object = try tx.insert("Thing", kept)
        if number % 3 == 0 {
          try tx.update(
            object, ["next": .object(ObjectReference(object))])
        }
      }
      try tx.insert("Thing", ["text": .string(String(repeating: beginning, count: 20))])
    }
    try store.checkpoint()
    try store.write { tx in
      try tx.insert(
        "Thing", ["number": .int(.min), "day": .date(Timestamp(microseconds: 1 << 60))])
    }
    try store.checkpoint()
  }
}

extension FixtureRecipe {
  /// Box indexes: of every kind that they can be over, two columns and eight, with a default, and
  /// of some objects; one added to objects that are there; a second checkpoint behind changes.
  static func boxIndexes(in store: Store) throws {
    let types: [(String, AttributeType)] = [
      ("latitude", .double), ("longitude", .double), ("height", .int16), ("steps", .int32),
      ("count", .int64), ("start", .date), ("end", .date),
    ]
    var entity = Entity("Walk")
    entity.attributes = types.map { Attribute($0.0, $0.1) }
    entity.attributes.append(Attribute("rank", .double, isOptional: false, default: .double(-0.5)))
    entity.indexes = [
      IndexDescription("place", box: ["latitude", "longitude"]),
      IndexDescription("all", box: ["rank"] + types.map(\.0)),
      IndexDescription(
        "long", box: ["start", "end", "rank"], where: .compare("height", .greater, .int(3))),
    ]
    try store.require(Schema(entities: [entity]))
    try store.write(author: "Ann") { tx in
      for number in 0..<60 {
        let degrees = [0, -0.0, 0.1, -1e300, 7.25, -3][number % 6] + Double(number / 6)
        let values: [String: Value] = [
          "latitude": .double(number % 6 == 1 ? -0.0 : degrees),
          "longitude": .double(-degrees * 3), "height": .int(Int64(number % 9) - 2),
          "steps": .int(Int64(number) << 25 - 1 << 30),
          "count": .int(number % 10 == 0 ? .min : Int64(number) * 1_000_003),
          "start": .date(Timestamp(microseconds: Int64(number % 7) << 50)),
          "end": .date(Timestamp(microseconds: Int64(-number))),
          "rank": .double(Double(number % 4)),
        ]
        try tx.insert("Walk", values.filter { $0.key != "rank" || number % 3 != 0 })
        if number % 5 == 0 { try tx.insert("Walk", ["latitude": values["latitude"] ?? .null]) }
      }
    }
    entity.indexes = [IndexDescription("later", box: ["rank", "latitude"])]
    try store.require(Schema(entities: [entity]))
    try store.checkpoint()
    try store.write { tx in
      let ids = try tx.objects(of: "Walk").map(\.objectID)
      try tx.update(ids[3], ["latitude": .null])
      try tx.update(ids[4], ["longitude": .double(1)])
      try tx.delete(ids[7])
    }
    try store.checkpoint()
  }
}

/// Which objects the partial indexes are of: every comparison, values of several kinds, null, and a
/// default.
private enum PartialConditions {
  static let some = Condition.all([
    .compare("price", .less, .int(2)), .compare("flag", .equal, true),
    .compare("day", .greaterOrEqual, .date(Timestamp(microseconds: -5 << 40))),
  ])
  static let others = Condition.all([
    .compare("text", .notEqual, "a"), .isNil("code").negated,
    .compare("rank", .lessOrEqual, .double(7)),
    .compare("bytes", .notEqual, .null),
  ])
  static let once = Condition.all([
    .compare("anything", .greater, .int(0)), .compare("link", .notEqual, .url("https://")),
  ])
}
