import Foundation
import Measuring

/// Runs the workload "posts" on a store and prints what each phase took, a line of JSON a figure.
/// Answers are checked against the workload; a wrong one ends the run with status 1.
///
///     annals-benchmark run FILE      every phase in this process; leaves FILE closed
///     annals-benchmark open FILE     open a store that `run` left, and read
///     annals-benchmark large FILE    1,000 values of 1 MB; leaves FILE closed
///     annals-benchmark reopen-large FILE
///     annals-benchmark concurrent FILE   durable commits by several threads
///     annals-benchmark processes FILE    durable commits by several processes, and listening
///     annals-benchmark queries FILE  what is asked of the objects, by an index and without
///     annals-benchmark index -       what an ordered index costs a commit
///     annals-benchmark live FILE     what a live view, a consumer and a projection cost a commit
///
///     --form typed|dynamic           records, or dictionaries
///     --durability full|deferred
///     --lock shared|exclusive
///     --operations N                 transactions of one object; 20,000
///     --phases write,history,past,sizes,replay,prune
///     --phases "3b index,3d"         of `queries`: these lists alone
///     --repeats N                    how often `queries` asks for each list; 7
///     --kinds "a title,an insert"    what the steps of a live view are of
@main
enum AnnalsBenchmark {
  static func main() async {
    do {
      let options = try Options([
        "form", "durability", "lock", "operations", "phases", "pause", "kinds", "repeats",
      ])
      guard options.words.count == 2 else {
        throw Failure(
          "annals-benchmark run|open|large|reopen-large|concurrent|processes|queries|index|live "
            + "FILE [--option value]…")
      }
      let setup = try Setup(options)
      let path = options.words[1]
      switch options.words[0] {
      case "run": try RunSession(path, setup, options).run()
      case "open": try OpenSession(path, setup).run()
      case "large": try LargeValueSession(path, setup).write()
      case "reopen-large": try LargeValueSession(path, setup).reopen()
      case "concurrent": try ConcurrentSession(path, setup, options).run()
      case "processes": try await ProcessSession(path, setup, options).run()
      case "writer": try WriterSession(path, setup, options).run()
      case "queries": try QuerySession(path, setup, options).run()
      case "index": try IndexSession(setup, options).run()
      case "live": try await LiveSession(path, setup, options).run()
      default:
        throw Failure(
          "\(options.words[0]) is none of run, open, large, reopen-large, concurrent, processes, "
            + "queries, index, live")
      }
    } catch {
      FileHandle.standardError.write(Data("annals-benchmark: \(error)\n".utf8))
      exit(1)
    }
  }
}
