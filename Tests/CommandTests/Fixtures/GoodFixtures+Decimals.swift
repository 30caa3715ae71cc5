import Annals
import AnnalsModel
import Foundation

@testable import AnnalsCommand

// Fixtures with decimals and days.

extension FixtureRecipe {
  private static func decimal(_ text: String) -> Value { .decimal(RawDecimal(text) ?? .zero) }
  private static func day(_ text: String) -> Value { .day(CalendarDay(text) ?? .earliest) }

  private static let numbers = [
    "12.5", "-12.5", "0", "1e164", "-1e-128", "99999999999999999999999999999999999999", "0.01", "7",
    "-0.1", "100",
  ]
  private static let dates = [
    "2019-10-06", "1970-01-01", "-9999-01-01", "9999-12-31", "1969-12-31", "0000-02-29",
  ]

  /// Decimals and days as attributes with keys, defaults and rules, in `any` and in metadata: by
  /// row, in a block, and in the chunks and indexes of a checkpoint.
  static func decimalsAndDays(in store: Store) throws {
    let schema = Schema {
      Entity("Item") {
        Attribute("id", .int64, isOptional: false, isUnique: true)
        Attribute(
          "price", .decimal, default: decimal("9.99"),
          validation: Validation(minimum: decimal("-1e100")))
        Attribute("due", .day, validation: Validation(maximum: day("9999-12-31")))
        Attribute("number", .decimal, isUnique: true)
        Attribute("either", .any)
        IndexDescription("by price", ["price", IndexElement("due", isDescending: true)])
        IndexDescription("dear", [IndexElement("either", isDescending: true)])
        IndexDescription("box", box: ["due", "id"])
      }
    }
    try store.require(schema)
    var ids: [ObjectID] = []
    for number in 0..<30 {
      let metadata: [String: Value] = [
        "rate": decimal("1.\(number)"), "day": day(dates[number % 6]),
      ]
      try store.write(metadata: number < 3 ? metadata : [:]) { tx in
        var values: [String: Value] = [
          "id": .int(Int64(number)), "number": decimal("\(number - 9)e-1"),
        ]
        if number % 7 > 0 { values["price"] = decimal(numbers[number % 10].prefixed(number)) }
        if number % 5 > 0 { values["due"] = day(dates[number % 6]) }
        values["either"] = number % 2 == 0 ? decimal(numbers[number % 10]) : day(dates[number % 6])
        if number % 9 == 8 { values["either"] = .int(Int64(number)) }
        ids.append(try tx.insert("Item", values))
      }
    }
    try store.checkpoint()
    _ = try store.compact()
    try store.write { tx in
      try tx.update(ids[1], ["price": nil, "due": day("2019-10-07"), "either": decimal("1")])
      try tx.update(ids[2], ["price": decimal("12.50")])
      try tx.delete(ids[3])
    }
  }

  /// A store that had none, until an attribute of any kind gets one.
  static func decimalsInAny(in store: Store) throws {
    try store.require(
      Schema {
        Entity("Thing") {
          Attribute("id", .int64, isOptional: false, isUnique: true)
          Attribute("value", .any)
        }
      })
    let values: [Value] = [1, 1.5, decimal("1.5"), day("2019-10-06"), "text"]
    for (number, value) in values.enumerated() {
      try store.write { tx in
        try tx.insert("Thing", ["id": .int(Int64(number)), "value": value])
      }
    }
  }
}

extension String {
  /// The text, with the sign of its number changed for some.
  fileprivate func prefixed(_ number: Int) -> String {
    number % 3 == 0 && !hasPrefix("-") && self != "1e164" ? "-" + self : self
  }
}
