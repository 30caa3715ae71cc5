import AnnalsModel

extension ConditionParser {
  /// Reads sort keys: `[-]path ["[c]" | "[l]"] [NILS FIRST | NILS LAST]`, with commas between.
  package static func parseSortKeys(
    _ text: String, over entity: Entity, in schema: Schema
  ) throws(ConditionTextError) -> [SortKey] {
    guard text.utf8.count <= longestText else {
      throw ConditionTextError(column: 1, reason: "sort keys are at most \(longestText) bytes")
    }
    var parser = ConditionParser(text, entity, schema, { _ in 0 })
    try parser.advance()
    var keys: [SortKey] = []
    repeat { keys.append(try parser.sortKey()) } while try parser.consume(",")
    guard parser.token.kind == .end else { throw parser.expected("a comma or the end") }
    return keys
  }

  private mutating func sortKey() throws(ConditionTextError) -> SortKey {
    let isDescending = try consume("-")
    var key = SortKey(try path().0, isDescending: isDescending)
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
