import Foundation

/// A git repository and one of its branches.
struct GitRepository {
  let path: String
  /// The name of the branch.
  let branch: String
  /// The newest commit of the branch.
  let tip: String
  /// Whether the history is cut off at some commits.
  let isShallow: Bool
  private let environment: [String: String]

  /// Opens a repository.
  ///
  /// - Throws: `CommandFailure` with a remedy: no git, no repository, wrong owner, no branch.
  init(path: String, branch: String?, environment: [String: String]) throws {
    self.path = path
    self.environment = environment
    func git(_ arguments: [String]) throws -> String {
      try GitProcess.text(arguments, repository: path, environment: environment)
    }
    isShallow = try git(["rev-parse", "--is-shallow-repository"]) == "true"
    if let branch {
      self.branch = branch
    } else {
      let name = try? git(["symbolic-ref", "--short", "-q", "HEAD"])
      self.branch = name ?? "HEAD"
    }
    // A name that begins with a dash would be an option; no branch has such a name.
    let names = self.branch.hasPrefix("-") ? [] : ["refs/heads/\(self.branch)", self.branch]
    let tips = names.lazy.compactMap { name in
      try? git(["rev-parse", "--verify", "-q", "\(name)^{commit}"])
    }
    guard let tip = tips.first else {
      let list = (try? git(["for-each-ref", "--format=%(refname:short)", "refs/heads"])) ?? ""
      throw CommandFailure.noBranch(
        self.branch, of: list.split(separator: "\n").map(String.init), repository: path)
    }
    self.tip = tip
  }

  /// The branch's history, without the commits up to `known`.
  func history(after known: String?) throws -> GitHistory {
    try GitHistory(repository: path, tip: tip, after: known, environment: environment)
  }

  /// Whether the repository has the commit.
  func hasCommit(_ id: String) -> Bool {
    guard !id.hasPrefix("-") else { return false }
    let arguments = ["cat-file", "-e", "\(id)^{commit}"]
    return (try? GitProcess.text(arguments, repository: path, environment: environment)) != nil
  }

  /// The number of commits in the branch's first-parent history after `known`, for the progress
  /// bar.
  func count(after known: String?) throws -> Int64? {
    let range = known.map { ["^\($0)"] } ?? []
    return Int64(
      try GitProcess.text(
        ["rev-list", "--first-parent", "--count", tip] + range + ["--"], repository: path,
        environment: environment))
  }
}
