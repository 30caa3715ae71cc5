import Annals
import AnnalsInspector
import SystemPackage

/// Adds to errors the commands that help.
enum Remedy {
  /// The error's message, with commands and arguments that help.
  static func message(for error: AnnalsError, of command: any StoreCommand) -> String {
    let text = error.description
    if let told = commands(for: error, in: command) {
      let rest = withoutRemedy(text)
      return rest + (rest.hasSuffix(".") ? "" : ".") + " \(told)."
    }
    switch error.code {
    case .lost: return text.hasSuffix(".") ? text : text + ". annals log shows the gap."
    case .pruned:
      return "\(text)." + (type(of: command).beginningAtBase.map { " Try \($0)." } ?? "")
    case .notFound where !text.contains("check the path") && !text.hasSuffix("."):
      return "\(text). Check the path; annals put and annals import make new files."
    case .beyondHead:
      if let date = text.firstMatch(of: dateAsNumber)?.output {
        return "\(text). Digits alone are a number: the date is \(date.1)-\(date.2)-\(date.3)."
      }
      guard let year = text.firstMatch(of: yearAsNumber)?.output.1 else { return "\(text)." }
      return "\(text). Digits alone are a number: the end of a year is \(year)-12, its beginning "
        + "\(year)-01."
    case .notAnAnnalsFile:
      guard let file = (command as? any FileCommand)?.file, FindingAdvice.hasRootSlot(file) else {
        return text + "."
      }
      return "the first bytes of \(file) are not those of an Annals store, and the rest is: they "
        + "were damaged. annals salvage FILE OUT saves what can be read."
    case .noSpace where command is any RewritingCommand:
      let room = (command as? any FileCommand).map { " " + MaintenanceText.room(for: $0.file) }
      return text + (text.hasSuffix(".") ? "" : ".") + (room ?? "")
    case .blocked:
      return "\(text)\nannals consumers FILE lists them; --force drops it all the same."
    default:
      let end = text.hasSuffix(".") || text.hasSuffix("?") ? "" : "."
      return text + end
    }
  }

  /// The text of an error about damage without what the library says to do about it, since the
  /// commands say the same.
  private static func withoutRemedy(_ text: String) -> String {
    let remedies = [
      " Verify it to see what is affected; restore a copy, or salvage everything readable into a "
        + "new file",
      " Restore a copy, or salvage everything readable into a new file",
      " Verify the file to see what is affected; salvaging it saves everything readable",
    ]
    return remedies.reduce(text) { $0.replacing($1, with: "") }.replacing(". (", with: " (")
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
      ? saving : "annals verify FILE shows what is affected, \(saving), or restore a copy"
  }

  /// The message with the path of the store in place of `FILE`, so that its commands can be copied.
  static func named(_ message: String, in command: any StoreCommand) -> String {
    guard let file = (command as? any FileCommand)?.file else { return message }
    let quoted = CommandWords.quoted(file)
    return message.replacing(/(annals [a-z]+) FILE\b/) { "\($0.output.1) \(quoted)" }
  }

  /// What is said of an erasure that was recorded and not carried out, with the commands to carry
  /// it out.
  static func text(of unfinished: SummaryDocument.Unfinished) -> String {
    "transaction \(unfinished.number) says what is erased, and transaction "
      + "\(unfinished.found) still has values of it; erase it again: "
      + unfinished.commands.joined(separator: "; ")
  }

  /// Matches a number that was probably meant as a year.
  private static var yearAsNumber: Regex<(Substring, Substring)> {
    /no transaction ((?:19|20)[0-9][0-9]) yet/
  }

  /// Matches a number that was probably meant as a date: `20191022`.
  private static var dateAsNumber: Regex<(Substring, Substring, Substring, Substring)> {
    /no transaction ((?:19|20)[0-9][0-9])(0[1-9]|1[0-2])([0-2][0-9]|3[01]) yet/
  }
}
