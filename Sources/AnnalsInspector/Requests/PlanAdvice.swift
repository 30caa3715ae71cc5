/// What a query plan recommends.
package enum PlanAdvice {
  /// The command that adds the index which a plan in words recommends at its end; nil if it
  /// recommends none.
  package static func command(
    for plan: String, of entity: String, in file: String
  ) -> String? {
    guard
      let found = plan.wholeMatch(of: /(?s).*(?:an|a ([a-z]+)) index of `(.*)` would help/)
    else { return nil }
    let keys = String(found.output.2)
    let name = keys.replacing("-", with: "").replacing("`", with: "").replacing(",", with: "-")
    var words = CommandWords("index", file).adding("add", entity, name)
    if let kind = found.output.1 { words = words.flag(String(kind), true) }
    return words.adding("--", keys).text
  }
}
