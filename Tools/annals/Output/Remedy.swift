import Annals

/// What to do on the command line about an error of the engine.
enum Remedy {
  /// The error's message with the arguments of the command that help.
  static func message(for error: AnnalsError, of command: any StoreCommand) -> String {
    let text = error.description
    switch error.code {
    case .lost: return text.hasSuffix(".") ? text : text + ". annals log shows the gap."
    case .pruned: return "\(text)." + (place(in: command).map { " Try \($0)." } ?? "")
    case .notFound where !text.contains("check the path") && !text.hasSuffix("."):
      return "\(text). Check the path; annals put and annals import make new files."
    case .beyondHead:
      guard let year = text.firstMatch(of: yearAsNumber)?.output.1 else { return "\(text)." }
      return "\(text). Digits alone are a number: the end of a year is \(year)-12, its beginning "
        + "\(year)-01."
    default: return text.hasSuffix(".") ? text : text + "."
    }
  }

  /// How the command is told to begin with the base.
  private static func place(in command: any StoreCommand) -> String? {
    switch command {
    case is StateCommand, is GetCommand, is SchemaCommand: "--at base"
    case is LogCommand, is ExportCommand: "--after base"
    case is DiffCommand: "base"
    case is ReplayCommand: "--to base"
    default: nil
    }
  }

  /// A number that was probably meant as a year.
  private static var yearAsNumber: Regex<(Substring, Substring)> {
    /no transaction ((?:19|20)[0-9][0-9]) yet/
  }
}
