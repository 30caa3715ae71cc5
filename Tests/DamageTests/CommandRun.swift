import Annals
import AnnalsExchange
import AnnalsInspector
import AnnalsModel

@testable import AnnalsCommand

/// What a run of the command gave.
struct CommandRun {
  var status: ExitStatus
  var output: String
  var errors: String
}

/// Runs a command line within the process.
func runCommand(_ arguments: String...) -> CommandRun {
  var output: [UInt8] = []
  var errors: [UInt8] = []
  let console = Console(
    output: Output { output += $0 }, errors: Output { errors += $0 },
    terminal: Console.Terminal(), environment: [:], store: .fixed(seed: 3), zone: .current,
    now: { Timestamp(microseconds: 0) }, readAnswer: { nil }, input: { MemorySource([]) })
  let status = AnnalsCommand.execute(arguments, console)
  return CommandRun(
    status: status, output: String(decoding: output, as: UTF8.self),
    errors: String(decoding: errors, as: UTF8.self))
}
