import Annals
import ArgumentParser

/// A hint for a command line with an unknown verb or option: names the nearest known one.
enum UsageHint {
  /// The hint; nil if all verbs and options are known, so that something else is wrong.
  static func text(for arguments: [String]) -> String? {
    guard var verb = arguments.first, !verb.hasPrefix("-") else { return nil }
    var rest = arguments.dropFirst()
    if verb == "help" {
      guard let about = rest.popFirst(), !about.hasPrefix("-") else { return nil }
      verb = about
    }
    let command = AnnalsCommand.configuration.subcommands.first {
      $0.configuration.commandName == verb
    }
    guard let command else { return unknown(verb) }
    let options = Options(help: AnnalsCommand.helpMessage(for: command))
    guard let option = options.firstUnknown(in: rest) else { return nil }
    let near = option.count > 2 ? NearName.hint(option, among: options.names) : ""
    return sentence("\(verb) has no option \(option)\(near)", "annals help \(verb) lists them.")
  }

  private static func unknown(_ verb: String) -> String {
    let names = AnnalsCommand.configuration.subcommands.compactMap { $0.configuration.commandName }
    let near = NearName.hint(verb, among: names + ["help"])
    return sentence("there is no verb \(verb)\(near)", "annals alone lists them.")
  }

  private static func sentence(_ text: String, _ next: String) -> String {
    text + (text.hasSuffix("?") ? " " : ". ") + next
  }
}

/// The options of a command, read from its help.
private struct Options {
  /// The names, with their dashes.
  var names: [String] = ["--help", "--version", "-h"]
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

  /// The first argument that looks like an option and is unknown.
  func firstUnknown(in arguments: ArraySlice<String>) -> String? {
    var rest = arguments
    while let argument = rest.popFirst() {
      if argument == "--" { return nil }
      guard argument.hasPrefix("--") || argument.wholeMatch(of: /-[A-Za-z]/) != nil else {
        continue
      }
      let name = argument.prefix { $0 != "=" }
      guard names.contains(String(name)) else { return String(name) }
      if name.count == argument.count, takingValue.contains(String(name)) { _ = rest.popFirst() }
    }
    return nil
  }
}
