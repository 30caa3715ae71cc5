import Annals
import ArgumentParser

/// The options that `undo` and `redo` share, and how they run.
struct UndoOptions: ParsableArguments {
  @Flag(help: "Print what it would do, and write nothing.") var dryRun = false

  @Option(
    parsing: .unconditional,
    help: """
      What becomes of values that others have changed since: stored-wins keeps theirs, own-wins \
      undoes them, too, overwrite undoes all that others changed in the object, roll-back leaves \
      such objects alone.
      """)
  var merge: MergeArgument?

  /// Prints what it would do, and does it unless it is a dry run.
  func run(
    _ console: Console, _ file: String, _ arguments: AuthorArguments,
    plan: (Store, String?, MergePolicy?) throws -> UndoPlan,
    _ commit: (Store, String?, MergePolicy?) throws -> Commit<UndoStep>
  ) throws -> ExitStatus {
    let store = dryRun ? try console.openForReading(file) : try console.openForChanging(file)
    defer { try? store.close() }
    let author = console.author(arguments.author)
    guard !dryRun else {
      try write(try plan(store, author, merge?.policy), console)
      return .done
    }
    // Others may write in between: then the plan is not what is done, and is not printed.
    let expected = try plan(store, author, merge?.policy)
    let commit = try commit(store, author, merge?.policy)
    if commit.value == expected.step { try write(expected, console) }
    try store.close()
    try console.lineOfTransaction(commit.token.number)
    return .done
  }

  private func write(_ plan: UndoPlan, _ console: Console) throws {
    let again = plan.isRedo ? " again" : ""
    let counts = [
      (plan.deletions, "deletes", again),
      (plan.updates, plan.isRedo ? "changes" : "sets back", again),
      (plan.revivals, plan.isRedo ? "inserts" : "revives", again),
    ].filter { $0.0 > 0 }.map { "\($0.1) \(Numerals.counted($0.0, "object"))\($0.2)" }
    let what = counts.isEmpty ? "changes nothing" : counts.joined(separator: ", ")
    try console.output.line("\(plan.isRedo ? "redoing" : "undoing") \(plan.step) \(what)")
    for conflict in plan.conflicts { try console.output.line("    \(conflict)") }
  }
}

/// A merge policy, as the command line names it.
enum MergeArgument: String, ExpressibleByArgument, CaseIterable {
  case storedWins = "stored-wins"
  case ownWins = "own-wins"
  case overwrite
  case rollBack = "roll-back"

  var policy: MergePolicy {
    switch self {
    case .storedWins: .storedWins
    case .ownWins: .ownWins
    case .overwrite: .overwrite
    case .rollBack: .rollBack
    }
  }
}
