import Annals
import AnnalsInspector

extension ImportCommand {
  /// Imports the first-parent history of a branch.
  func importGit(_ path: String, _ console: Console) throws -> ExitStatus {
    let repository = try GitRepository(path: path, branch: branch, environment: console.environment)
    if repository.isShallow {
      console.report(
        "warning: \(path) is a shallow copy; history begins where it was cut off. For all of it, "
          + "run git -C '\(path)' fetch --unshallow, and import into a new file")
    }
    // The process that imports commits is not the one that made them.
    let store = try console.openOrCreate(file, .deferred, namesProcess: false)
    defer {
      // If it failed before the first commit, no file is left.
      store.discardIfUnused()
      try? store.close()
    }
    try console.refuseReplica(store, file)
    let known = try GitImport.lastCommit(in: store)
    if let known, !repository.hasCommit(known.id) { throw rewritten(known, repository) }
    let total = try repository.count(after: known?.id)
    let history = try repository.history(after: known?.id)
    let git = try GitImport(store, after: known)
    let bar = ProgressBar(console, noun: "commit")
    defer { bar.remove() }
    var isFirst = true
    while let commit = try history.nextCommit() {
      if isFirst, let known, commit.parents.first != known.id { throw rewritten(known, repository) }
      isFirst = false
      try git.add(commit, history)
      bar.update(
        count: git.count, fraction: total.map { Double(git.count) / Double(max($0, 1)) })
    }
    if isFirst, let known, known.id != repository.tip { throw rewritten(known, repository) }
    bar.remove()
    try store.close()
    if git.undated.count > 0 {
      let more = git.undated.count - 1
      console.report(
        "note: commit \(git.undated.first)"
          + (more > 0 ? " and \(Numerals.counted(more, "other commit"))" : "")
          + (more > 0 ? " have" : " has") + " no date that can be used, and "
          + (more > 0 ? "take those of their parents" : "takes that of its parent")
          + ": \(console.zone.text(git.undated.date))")
    }
    if git.escapedPaths > 0 {
      console.report(
        "note: \(Numerals.counted(git.escapedPaths, "path")) with bytes that are not UTF-8, "
          + "written \\xHH"
      )
    }
    if history.missingObjects > 0 {
      console.report(
        "note: \(Numerals.counted(history.missingObjects, "file")) without size: the repository "
          + "lacks the objects")
    }
    try console.output.line(
      "imported \(Numerals.counted(git.count, "commit")) of \(repository.branch); the newest is "
        + "transaction \(store.token.number)")
    return .done
  }

  private func rewritten(
    _ known: GitImport.KnownCommit, _ repository: GitRepository
  ) -> CommandFailure {
    CommandFailure(
      "branch \(repository.branch) was rewritten: commit \(known.id.prefix(12)) (transaction "
        + "\(known.transaction)), the newest that \(file) has, is not in its first-parent history; "
        + "or \(file) was made from another branch. Nothing was imported. Import the branch into a "
        + "new file, or name the right one with --branch")
  }
}
