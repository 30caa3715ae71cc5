import Annals
import ArgumentParser

/// A hint for a command line with an unknown verb or option, or with too many words: names what was
/// probably meant.
enum UsageHint {
  /// Verbs of other programs, and those that do the same here.
  private static let synonyms = [
    "remove": "delete", "rm": "delete", "history": "log", "select": "query",
    "find": "query", "set": "put", "insert": "put", "update": "put", "version": "--version",
  ]

  /// The hint; nil if all verbs and options are known, so that something else is wrong.
  static func text(for arguments: [String]) -> String? {
    guard var verb = arguments.first, !verb.hasPrefix("-") else { return nil }
    var rest = arguments.dropFirst()
    let isHelp = verb == "help"
    if isHelp {
      guard let about = rest.popFirst(), !about.hasPrefix("-") else { return nil }
      verb = about
    }
    let command = AnnalsCommand.configuration.subcommands.first {
      $0.configuration.commandName == verb
    }
    guard let command else { return unknown(verb) }
    let options = Options(help: AnnalsCommand.helpMessage(for: command))
    let (words, unknown) = options.sorted(rest)
    guard let option = unknown else {
      return isHelp ? nil : surplus(words, of: verb)
    }
    let file = words.first ?? "FILE"
    if option == "--where" || option == "--sort", verb != "query" {
      return "\(verb) has no option \(option). annals query \(file) ENTITY \(option) … has it."
    }
    return sentence(
      "\(verb) has no option \(option)\(options.near(option))", "annals help \(verb) lists them.")
  }

  private static func unknown(_ verb: String) -> String {
    if let meant = synonyms[verb.lowercased()] {
      return "there is no verb \(verb); did you mean \(meant)? annals alone lists them."
    }
    let near = NearName.hint(verb, among: AnnalsCommand.verbs + ["help"])
    return sentence("there is no verb \(verb)\(near)", "annals alone lists them.")
  }

  /// The hint for a verb with more words than it takes; nil if there is nothing to say.
  private static func surplus(_ words: [String], of verb: String) -> String? {
    guard let file = words.first else { return nil }
    switch (verb, words.count) {
    case ("state", 2): return "write annals state \(file) --entity \(words[1])"
    case ("schema", 2):
      return "schema prints all entities and takes no `\(words[1])`: annals schema \(file)"
    case ("export", 2):
      return "export writes to standard output: annals export \(file) > \(words[1])"
    case ("query", 3):
      return "a condition follows --where: annals query \(file) \(words[1]) --where '\(words[2])'"
    case ("get", 3), ("blame", 3), ("delete", 3), ("show", 3):
      return "an object is one word: annals \(verb) \(file) \(words[1])/\(words[2])"
    default: return nil
    }
  }

  private static func sentence(_ text: String, _ next: String) -> String {
    text + (text.hasSuffix("?") ? " " : ". ") + next
  }
}

/// The options of a command, read from its help.
private struct Options {
  /// The names, with their dashes.
  var names: [String] = ["--help", "--version", "-h", "--no-pager"]
  /// The names of options with a value.
  private var takingValue: Set<String> = []

  init(help: String) {
    for line in help.split(separator: "\n") {
      guard let match = line.prefixMatch(of: /\ \ ((?:--?[\w-]+(?:, |\/)?)+)( <)?/)
      else { continue }
      for name in match.1.split(whereSeparator: { ", /".contains($0) }) {
        names.append(String(name))
        if match.2 != nil { takingValue.insert(String(name)) }
      }
    }
  }

  /// `; did you mean NAME?` with the option that was probably meant: the nearest, or for one letter
  /// the only long one that begins with it. Empty if there is none.
  func near(_ option: String) -> String {
    if option.count > 2 { return NearName.hint(option, among: names) }
    let long = Set(names.filter { $0.hasPrefix("-" + option.lowercased()) })
    guard long.count == 1, let name = long.first else { return "" }
    return "; did you mean \(name)?"
  }

  /// The arguments that are neither options nor values of options, and the first that looks like an
  /// option and is unknown.
  func sorted(_ arguments: ArraySlice<String>) -> (words: [String], unknown: String?) {
    var rest = arguments
    var words: [String] = []
    var unknown: String?
    while let argument = rest.popFirst() {
      if argument == "--" { return (words + rest, unknown) }
      guard let name = option(argument) else {
        words.append(argument)
        continue
      }
      if unknown == nil, !names.contains(name) { unknown = name }
      if name.count == argument.count, takingValue.contains(name) { _ = rest.popFirst() }
    }
    return (words, unknown)
  }

  /// The name of the option that an argument gives; nil for a word.
  private func option(_ argument: String) -> String? {
    guard argument.hasPrefix("--") || argument.wholeMatch(of: /-[A-Za-z]/) != nil else {
      return nil
    }
    return String(argument.prefix { $0 != "=" })
  }
}
