import Foundation
import Measuring

/// Runs the workload "posts" on a store and prints the figures of each phase, one line of JSON
/// each. Checks the answers against the workload; a wrong one ends the run with status 1.
///
///     annals-benchmark run FILE      every phase in this process; leaves FILE closed
///     annals-benchmark open FILE     open a store that `run` left, and read
///     annals-benchmark large FILE    1,000 values of 1 MB; leaves FILE closed
///     annals-benchmark reopen-large FILE
///     annals-benchmark stream FILE   one value of 200 MB, a process for each of its --phases:
///                                    insert-stream (or -whole), read-stream, -whole, -range
///     annals-benchmark concurrent FILE   durable commits by several threads
///     annals-benchmark processes FILE    durable commits by several processes, and listening
///     annals-benchmark queries FILE  queries of the objects, with and without an index
///     annals-benchmark index -       the cost of an ordered index to a commit
///     annals-benchmark live FILE     the cost of a live view, a consumer and a projection
///     annals-benchmark graph -       the cost of references, cascades, inverses and edits
///     annals-benchmark derive FILE   the cost of adding derived attributes to a store
///     annals-benchmark scale FILE    one operation on a store of any size: --phases make first
///     annals-benchmark import FILE   a history of one-change transactions as JSON Lines
///     annals-benchmark budget FOLDER prepare   makes the stores of the next line
///     annals-benchmark budget FOLDER PHASE --count N   what Tools/Benchmarks/budgets counts
///
///     --form typed|dynamic           records, or dictionaries
///     --durability full|deferred
///     --lock shared|exclusive
///     --operations N                 transactions of one object; 20,000
///     --posts N                      the objects before `queries`, `index`, `live`, `graph`,
///                                    `derive` and `scale`; 100,000
///     --phases write,history,past,sizes,replay,prune
///     --phases "3b index,3d"         only these lists of `queries`
///     --repeats N                    how often `queries` fetches each list; 7
///     --kinds "a title,an insert"    the kinds of change for a live view
@main
enum AnnalsBenchmark {
  static func main() {
    do {
      let options = try Options([
        "count", "durability", "form", "kinds", "lock", "operations", "pause", "phases", "posts",
        "repeats",
      ])
      guard options.words.count == (options.words.first == "budget" ? 3 : 2) else {
        throw Failure(
          "annals-benchmark run|open|large|reopen-large|stream|concurrent|processes|queries|index|"
            + "live|graph|derive|scale|import FILE [--option value]…, or "
            + "annals-benchmark budget FOLDER PHASE")
      }
      let setup = try Setup(options)
      let path = options.words[1]
      switch options.words[0] {
      case "run": try RunSession(path, setup, options).run()
      case "open": try OpenSession(path, setup).run()
      case "large": try LargeValueSession(path, setup).write()
      case "reopen-large": try LargeValueSession(path, setup).reopen()
      case "stream": try StreamSession(path, setup, options).run()
      case "concurrent": try ConcurrentSession(path, setup, options).run()
      case "processes": try wait { try await ProcessSession(path, setup, options).run() }
      case "writer": try WriterSession(path, setup, options).run()
      case "queries": try QuerySession(path, setup, options).run()
      case "index": try IndexSession(setup, options).run()
      case "live": try wait { try await LiveSession(path, setup, options).run() }
      case "graph": try wait { try await GraphSession(setup, options).run() }
      case "derive": try DeriveSession(path, setup, options).run()
      case "scale": try ScaleSession(path, setup, options).run()
      case "import": try ImportSession(path, setup, options).run()
      case "budget": try BudgetSession(path, options).run(options.words[2])
      default:
        throw Failure(
          "\(options.words[0]) is none of run, open, large, reopen-large, stream, concurrent, "
            + "processes, queries, index, live, graph, derive, scale, import, budget")
      }
    } catch {
      FileHandle.standardError.write(Data("annals-benchmark: \(error)\n".utf8))
      exit(1)
    }
  }

  /// Runs asynchronous work to its end on other threads.
  ///
  /// An asynchronous `main` would end the first thread, which callgrind does not survive.
  static func wait(_ work: @escaping @Sendable () async throws -> Void) throws {
    // Written before the signal, and read after it.
    nonisolated(unsafe) var failure: (any Error)?
    let ended = DispatchSemaphore(value: 0)
    Task.detached {
      do { try await work() } catch { failure = error }
      ended.signal()
    }
    ended.wait()
    if let failure { throw failure }
  }
}
