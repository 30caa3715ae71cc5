extension PlanDocument {
  /// A plan in words.
  package init(
    _ plan: String, of entity: String, in file: String, at moment: ShownMoment,
    command: CommandWords
  ) {
    self.init(
      moment: moment,
      plan: plan.split(separator: "\n", omittingEmptySubsequences: false).map(String.init),
      planRemedy: PlanAdvice.command(for: plan, of: entity, in: file), command: command.text)
  }
}

/// What a query plan recommends.
private enum PlanAdvice {
  /// The command that adds the index which a plan in words recommends at its end; nil if it
  /// recommends none.
  static func command(
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
