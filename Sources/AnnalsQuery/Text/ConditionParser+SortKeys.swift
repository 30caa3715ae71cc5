import AnnalsModel

extension ConditionParser {
  /// Reads sort keys: `[-]path ["[c]" | "[l]"] [NILS FIRST | NILS LAST]`, with commas between.
  package static func parseSortKeys(
    _ text: String, over entity: Entity, in schema: Schema
  ) throws(ConditionTextError) -> [SortKey] {
    try parseList(text, of: "sort keys", over: entity, in: schema) {
      (parser) throws(ConditionTextError) in try parser.sortKey()
    }
  }

  private mutating func sortKey() throws(ConditionTextError) -> SortKey {
    let isDescending = try consume("-")
    var key = SortKey(try operand().0, isDescending: isDescending)
    if try consume("[") {
      if try consume("C") {
        key.textOrder = .caseInsensitive
      } else if try consume("L") {
        key.textOrder = .localized
      } else {
        throw expected("c or l")
      }
      try require("]")
    }
    if try consume("NILS") {
      if try consume("FIRST") {
        key.nils = .first
      } else if try consume("LAST") {
        key.nils = .last
      } else {
        throw expected("FIRST or LAST")
      }
    }
    return key
  }
}
