import Foundation

extension CommandFailure {
  static var noGit: CommandFailure {
    CommandFailure(
      "there is no git on the PATH. Install it (Debian: apt-get install git), or import an export "
        + "made elsewhere: annals import FILE CHANGES.jsonl")
  }

  /// The failure for what a git command wrote to standard error.
  static func git(_ errors: String, repository: String) -> CommandFailure {
    let text = errors.trimmingCharacters(in: .whitespacesAndNewlines)
    if text.contains("dubious ownership") || text.contains("unsafe repository") {
      return CommandFailure(
        "git refuses to read \(repository) because another user owns it. If you trust it, run: "
          + "git config --global --add safe.directory '\(repository)'")
    }
    if text.contains("not a git repository") || text.contains("cannot change to") {
      return CommandFailure(
        "\(repository) is no git repository. Give the directory that holds .git, or a bare one")
    }
    return CommandFailure(
      "git could not read \(repository): \(text.isEmpty ? "no reason given" : text)")
  }

  /// The failure for an unknown branch; `branches` are those of the repository.
  static func noBranch(_ branch: String, of branches: [String], repository: String)
    -> CommandFailure
  {
    guard !branches.isEmpty else {
      return CommandFailure(
        "\(repository) has no branch \(branch). It has none at all: commit something first, or "
          + "fetch")
    }
    let most = 10
    var list = branches.prefix(most).joined(separator: ", ")
    if branches.count > most { list += " and \(branches.count - most) more" }
    return CommandFailure(
      "\(repository) has no branch \(branch). It has \(list); name one with --branch, or a tag or "
        + "a commit")
  }
}
