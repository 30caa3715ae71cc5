import Annals
import AnnalsInspector
import ArgumentParser

/// The command `annals`. Each subcommand is a file in `Commands`.
@main
struct AnnalsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "annals",
    abstract: "Reads and writes .annals files: the state, any past state, and the history of both.",
    version: "annals 0.1 (file format: \(Store.fileFormat))",
    subcommands: [
      LogCommand.self, ShowCommand.self, DiffCommand.self, BlameCommand.self, SinceCommand.self,
      StateCommand.self, QueryCommand.self, TimelineCommand.self, WatchCommand.self,
      ServeCommand.self, GetCommand.self, SchemaCommand.self, IndexCommand.self, PutCommand.self,
      DeleteCommand.self, UndoCommand.self, RedoCommand.self, RevertCommand.self,
      ImportCommand.self, ExportCommand.self, ReplayCommand.self, PruneCommand.self,
      EraseCommand.self, ConsumersCommand.self, RetainCommand.self, MaintainCommand.self,
      CompactCommand.self, UpgradeCommand.self, BackupCommand.self, ShipCommand.self,
      RestoreCommand.self, ReplicateCommand.self, SalvageCommand.self, DumpCommand.self,
      VerifyCommand.self, StatCommand.self,
    ])

  /// The names of the subcommands.
  static var verbs: [String] {
    configuration.subcommands.compactMap { $0.configuration.commandName }
  }

  static func main() {
    let console = Console.ofProcess()
    let status: ExitStatus
    do throws(CommandFailure) {
      status = execute(try RawArguments.ofProcess.decoded(), console)
    } catch {
      console.report(error.message)
      status = error.status
    }
    exit(withError: ExitCode(status.rawValue))
  }

  /// Runs one command line and returns the exit status. Reports failures on standard error.
  static func execute(_ arguments: [String], _ console: Console) -> ExitStatus {
    defer { console.endPaging() }
    let (arguments, noPager) = withoutPagerOption(arguments)
    do {
      if arguments.isEmpty || [["help"], ["--help"], ["-h"]].contains(arguments) {
        try console.output.write(Overview.text)
        try console.output.flush()
        return .done
      }
      var parsed = try parse(arguments)
      guard let command = parsed as? any StoreCommand else {
        try parsed.run()
        return .done
      }
      if !noPager, type(of: command).isPaged { console.beginPaging() }
      do {
        let status = try command.run(console)
        try console.output.flush()
        return status
      } catch let error as AnnalsError {
        console.report(Remedy.named(Remedy.message(for: error, of: command), in: command))
        return .couldNotRun
      } catch let failure as CommandFailure {
        console.report(Remedy.named(failure.message, in: command))
        return failure.status
      } catch let fault as RequestFault {
        let failure = CommandFailure(fault)
        console.report(Remedy.named(failure.message, in: command))
        return failure.status
      }
    } catch OutputFault.closed {
      // The reader of the output has ended.
      return .done
    } catch OutputFault.failed(let reason) {
      let recorded = console.recorded.map { "; transaction \($0) was recorded" } ?? ""
      console.report("writing the output failed: \(reason)\(recorded)")
      return .couldNotRun
    } catch let failure as CommandFailure {
      console.report(failure.message)
      return failure.status
    } catch {
      return report(error, console)
    }
  }

  /// The arguments without `--no-pager`, which may be anywhere before `--`, and whether it was
  /// there.
  private static func withoutPagerOption(_ arguments: [String]) -> ([String], noPager: Bool) {
    let options = arguments.prefix { $0 != "--" }
    let rest = options.filter { $0 != "--no-pager" }
    return (rest + arguments.dropFirst(options.count), rest.count < options.count)
  }

  /// Parses the arguments. Throws a failure that suggests what was probably meant, or the parser's
  /// error.
  private static func parse(_ arguments: [String]) throws -> any ParsableCommand {
    do {
      if arguments.first == "help", let hint = UsageHint.text(for: arguments) {
        throw CommandFailure(hint, status: .usage)
      }
      return try parseAsRoot(arguments)
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      guard exitCode(for: error) != .success, let hint = UsageHint.text(for: arguments) else {
        throw error
      }
      throw CommandFailure(hint, status: .usage)
    }
  }

  /// Prints what the argument parser throws: help, or an error in the command line.
  private static func report(_ error: any Error, _ console: Console) -> ExitStatus {
    let message = fullMessage(for: error)
    guard exitCode(for: error) != .success else {
      try? console.output.write(message + "\n")
      try? console.output.flush()
      return .done
    }
    guard exitCode(for: error) == .validationFailure else {
      console.report("\(error)")
      return .couldNotRun
    }
    try? console.output.flush()
    try? console.errors.write(message + "\n")
    try? console.errors.flush()
    return .usage
  }
}

/// What `annals` alone prints.
enum Overview {
  static let text = """
    annals: an append-only database in one file that never forgets

    look     log      the transactions, newest first
             show     a transaction, or an object with its history
             diff     the net difference between two states
             blame    who last set each property of an object
             since    since when something has been so
             state    all objects, now or at any time in the past
             query    find objects by a condition, in any order
             timeline what happened when, printed or drawn
             watch    changes of objects, as they happen
             serve    all of this, and more, in a browser
             get      one object, now or at any time in the past
             schema   the entities and their properties
             index    list, add and drop indexes
    write    put      insert or update an object
             delete   delete an object
             undo     undo what an author did last; annals redo FILE redoes it
             revert   undo any one transaction with a new one
             import   read transactions from JSON Lines or from git
    keep     export   write transactions as JSON Lines
             replay   a new file as of a past transaction
             prune    drop the history before a transaction
             erase    remove every value that an object ever had
             consumers readers of the history that prune waits for
             retain   how much history is kept; annals maintain drops the rest
             compact  make the file smaller, losing nothing
             backup   a whole, verified copy, while others use the file
             ship     to a folder, from which restore makes any moment again
             replicate keep a file up to date with a log that many share
             salvage  a new file with everything readable of a damaged one
    inspect  dump     every frame of the file, every byte if wanted
             verify   check the file and replay its history
             stat     counts, dates, and where the bytes go
    annals help VERB says more. --no-pager: print long output without a pager.

    """
}
