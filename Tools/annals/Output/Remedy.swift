import Annals

/// What to do on the command line about an error of the engine.
enum Remedy {
  /// The error's message with the options that help.
  static func message(for error: AnnalsError) -> String {
    let text = error.description
    switch error.code {
    case .lost: return text.hasSuffix(".") ? text : text + ". annals log shows the gap."
    case .pruned: return "\(text). Try --at base."
    case .notFound where !text.contains("check the path"):
      return "\(text). Check the path; annals put and annals import make new files."
    default: return text.hasSuffix(".") ? text : text + "."
    }
  }
}
