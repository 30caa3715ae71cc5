import Annals
import SystemPackage

/// Adds to errors and findings the commands that help.
enum Remedy {
  /// The error's message, with commands and arguments that help.
  static func message(for error: AnnalsError, of command: any StoreCommand) -> String {
    let text = error.description
    switch error.code {
    case .lost: return text.hasSuffix(".") ? text : text + ". annals log shows the gap."
    case .pruned:
      return "\(text)." + (type(of: command).beginningAtBase.map { " Try \($0)." } ?? "")
    case .notFound where !text.contains("check the path") && !text.hasSuffix("."):
      return "\(text). Check the path; annals put and annals import make new files."
    case .beyondHead:
      guard let year = text.firstMatch(of: yearAsNumber)?.output.1 else { return "\(text)." }
      return "\(text). Digits alone are a number: the end of a year is \(year)-12, its beginning "
        + "\(year)-01."
    case .blocked:
      return "\(text)\nannals consumers FILE lists them; --force drops it all the same."
    default:
      let end = text.hasSuffix(".") || text.hasSuffix("?") ? "" : "."
      return text + end + (commands(for: error, in: command).map { " \($0)." } ?? "")
    }
  }

  /// The commands that help with a damaged file; nil for any other error.
  private static func commands(for error: AnnalsError, in command: any StoreCommand) -> String? {
    let work = type(of: command).damageWork
    let isDiskError = error.code == .io && error.underlying == .ioError
    guard error.code == .damaged || error.code == .missingData || isDiskError,
      !error.message.contains("nothing can be salvaged"), work != .saves
    else { return nil }
    let saving = "annals salvage FILE OUT saves what can be read"
    return isDiskError || work == .shows
      ? saving : "annals verify FILE shows what is affected, \(saving)"
  }

  /// The message with the path of the store in place of `FILE`, so that its commands can be copied.
  static func named(_ message: String, in command: any StoreCommand) -> String {
    guard let file = (command as? any FileCommand)?.file else { return message }
    return message.replacing(/(annals [a-z]+) FILE\b/) { "\($0.output.1) \(quoted(file))" }
  }

  /// A finding about a file, with the command for its remedy.
  static func withCommand(_ finding: String, of file: String) -> String {
    if finding.contains("smallest file") {
      return "\(finding) (annals compact --smallest \(file))"
    }
    if finding.contains("Compact") { return "\(finding) (annals compact \(file))" }
    return finding.contains("or salvage") ? "\(finding) (annals salvage \(file) OUT)" : finding
  }

  /// A query plan, with the command that adds the index it recommends.
  static func withCommand(plan: String, of entity: String, in file: String) -> String {
    guard let found = plan.wholeMatch(of: /(?s).*(?:an|a (box)) index of `(.*)` would help/) else {
      return plan
    }
    let keys = String(found.output.2)
    let name = keys.replacing("-", with: "").replacing("`", with: "").replacing(",", with: "-")
    let kind = found.output.1 == nil ? [] : ["--box"]
    let words = (["annals", "index", file, "add", entity, name] + kind + ["--", keys]).map(quoted)
    return "\(plan): \(words.joined(separator: " "))"
  }

  /// The erasures that were recorded but not carried out, each with the commands to carry it out;
  /// none if the history cannot be read.
  static func unfinishedErasures(of store: Store, in file: String) -> [String] {
    let list = (try? store.version.unfinishedErasures()) ?? []
    return list.map { unfinished in
      let commands = unfinished.erasure.targets.compactMap { target -> String? in
        guard let entity = store.schema.entity(numbered: target.object.entity), !entity.isRemoved
        else { return nil }
        let names = target.properties.compactMap { entity.propertyName($0) }
        let words =
          ["annals", "erase", file, "\(entity.name)#\(target.object.row)"]
          + names.flatMap { ["--property", $0] } + ["--reason", unfinished.erasure.reason]
        return words.map(quoted).joined(separator: " ")
      }
      return "transaction \(unfinished.number) says what is erased, and transaction "
        + "\(unfinished.found) still has values of it; erase it again: "
        + commands.joined(separator: "; ")
    }
  }

  /// A word, quoted for a shell if necessary.
  private static func quoted(_ word: String) -> String {
    let isPlain = word.unicodeScalars.allSatisfy {
      ("a"..."z").contains($0) || ("A"..."Z").contains($0) || ("0"..."9").contains($0)
        || "-_./,@:".unicodeScalars.contains($0)
    }
    return isPlain && !word.isEmpty ? word : "'\(word.replacing("'", with: "'\\''"))'"
  }

  /// Matches a number that was probably meant as a year.
  private static var yearAsNumber: Regex<(Substring, Substring)> {
    /no transaction ((?:19|20)[0-9][0-9]) yet/
  }
}
