import Annals
import AnnalsModel
import Foundation

@testable import AnnalsCommand

// Fixtures with every kind of value in every place, and of times before 1970 and clocks that jump.

extension FixtureRecipe {
  private static let date = Timestamp(microseconds: -1_000_001)

  /// Values of each kind, the second of each greater.
  private static let pairs: [(AttributeType, Value, Value)] = [
    (.bool, false, true), (.int16, -5, 300), (.int32, -70_000, 70_000), (.int64, .int(.min), 7),
    (.double, -0.5, 1e300), (.string, "a", "a\u{0}b"),
    (.date, .date(date), .date(Timestamp(microseconds: 9))),
    (.uuid, .uuid(RawUUID(high: 1, low: 2)), .uuid(RawUUID(high: 1, low: 3))),
    (.url, .url("a:b"), .url("b:c")), (.data, .data([]), .data([0, 255])),
    (.json, .json("[1]"), .json("{}")), (.any, 5, "five"),
  ]

  /// Objects with values of all kinds: unique ones, so that they are keys of indexes, and ones that
  /// come again and again.
  static func allKinds(in store: Store) throws {
    let schema = Schema {
      Entity("Kind") {
        Attribute("id", .int64, isOptional: false, isUnique: true)
        for (type, _, _) in pairs { Attribute("\(type)", type) }
        for (type, _, _) in pairs { Attribute("unique \(type)", type, isUnique: true) }
        Relationship("next", to: "Kind", onDelete: .keep)
        Relationship("others", to: "Kind", isToMany: true, onDelete: .keep)
        IndexDescription("pair", ["next", "bool"], isUnique: true)
      }
    }
    try store.require(schema)
    var ids: [ObjectID] = []
    for number in 0..<48 {
      try store.write(author: "Ann") { tx in
        var values: [String: Value] = ["id": .int(Int64(number))]
        for (type, first, second) in pairs {
          values["\(type)"] = number % 3 == 0 ? second : first
          if number < 2 { values["unique \(type)"] = number == 0 ? first : second }
        }
        if number > 1 { values["unique any"] = more(number) }
        if number > 2 {
          let targets = ids.suffix(3).map { ObjectReference($0) }
          values["next"] = .object(targets[0])
          values["others"] = .objects(targets)
        }
        ids.append(try tx.insert("Kind", values))
      }
    }
    try store.write { tx in
      let others = [ids[0], ids[1]].map { ObjectReference($0) }
      try tx.update(ids[7], ["others": .objects(others), "bool": nil])
      try tx.delete(ids[9])
    }
  }

  /// Many objects of which each third was deleted.
  static func holes(in store: Store) throws {
    try store.require(
      Schema {
        Entity("Row") { Attribute("id", .int64, isOptional: false, isUnique: true) }
      })
    var ids: [ObjectID] = []
    try store.write { tx in
      for number in 0..<900 { ids.append(try tx.insert("Row", ["id": .int(Int64(number))])) }
    }
    try store.write { tx in
      for number in stride(from: 0, to: 900, by: 3) { try tx.delete(ids[number]) }
    }
  }

  /// A value that no other number has, of one kind after the other.
  private static func more(_ number: Int) -> Value {
    let value = Int64(number)
    return switch number % 6 {
    case 0: .int(value)
    case 1: .double(Double(value) / 2)
    case 2: .string("text \(number)")
    case 3: .date(Timestamp(microseconds: value))
    case 4: .uuid(RawUUID(high: UInt64(number), low: 0))
    default: .data([UInt8(number), 0])
    }
  }

  /// A base whose transactions are all of before 1970.
  static func pruned(_ folder: CommandFolder) throws -> Data {
    let lines = [-900, -950, -800, -700].enumerated().map { number, second in
      let date = Timestamp(microseconds: Int64(second) * 1_000_000)
      return #"{"timestamp":"\#(date)","changes":[{"op":"insert","entity":"Flight","#
        + #""id":"\#(number)","set":{"metres":\#(number * 37)}}]}"#
    }
    try folder.write(lines.joined(separator: "\n") + "\n", to: "old.jsonl")
    folder.run("import", "@old.annals", "@old.jsonl")
    folder.run("prune", "@old.annals", "--before", "3", "--yes")
    return try Data(contentsOf: URL(fileURLWithPath: folder.file("old.annals")))
  }

  /// Three transactions of clocks that had jumped back, one of them before the base.
  static func clockJumps(_ folder: CommandFolder) throws -> Data {
    for (number, step) in [0, -3_600, 7_200, -3_600, -3_600].enumerated() {
      folder.turnClock(by: Int64(step) * 1_000_000)
      folder.run("put", "@clock.annals", "Note/\(number)", "text=t")
    }
    folder.run("prune", "@clock.annals", "--before", "4", "--yes")
    return try Data(contentsOf: URL(fileURLWithPath: folder.file("clock.annals")))
  }
}
