import Foundation
import Measuring
import Workload

/// The workload on SQLite with its history kept by triggers, as a program would do without Annals.
/// WAL, FULL, statements prepared once.
///
///     sqlite-history run FILE [--sync full|normal|off] [--phases write,history,past,prune]
///     sqlite-history open FILE
///     sqlite-history queries FILE [--posts N] [--operations N]
@main
enum SQLitePeer {
  static func main() {
    do {
      let options = try Options(["sync", "posts", "operations", "phases"])
      guard options.words.count == 2 else { throw Failure("sqlite-history run|open|queries FILE") }
      let sync = try options.choice("sync", "full", "normal", "off")
      let recorder = Recorder(peer: "sqlite-history", configuration: "sync=\(sync)")
      let path = options.words[1]
      if options.words[0] == "open" {
        try open(path, sync, recorder)
      } else {
        let workload = Workload(
          posts: try options.number("posts", 100_000),
          operations: try options.number("operations", 20_000))
        if options.words[0] == "queries" {
          try QueryPhases(path, sync, recorder, workload).run()
        } else {
          let phases = options.list("phases") ?? ["write", "history", "past", "prune"]
          try RunSession(path, sync, recorder, workload, Set(phases)).run()
        }
      }
    } catch {
      FileHandle.standardError.write(Data("sqlite-history: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func open(_ path: String, _ sync: String, _ recorder: Recorder) throws {
    let base = Footprint.resident
    let start = Mark()
    let database = try connect(path, sync)
    let first = try database.prepare("SELECT * FROM post ORDER BY id LIMIT 1")
    try expect("first objects", first.readAll(), is: 1)
    recorder.record("9 open to first object", items: 1, Mark() - start)
    let page = try database.prepare("SELECT * FROM post ORDER BY timestamp DESC LIMIT 200")
    try expect("first page", page.readAll(), is: 200)
    recorder.record("9a open to first 200 by date", items: 1, Mark() - start)
    recorder.megabytes("9c memory after open", Footprint.resident - base)
    let all = try database.prepare("SELECT * FROM post ORDER BY id")
    _ = recorder.time("9b then all objects", items: 1) { all.readAll() }
  }

  static func connect(_ path: String, _ sync: String) throws -> Database {
    let database = try Database(path)
    _ = try database.prepare("PRAGMA journal_mode=WAL").readAll()
    try database.run(
      "PRAGMA synchronous=\(sync); PRAGMA cache_size=-65536; PRAGMA temp_store=MEMORY")
    return database
  }
}
