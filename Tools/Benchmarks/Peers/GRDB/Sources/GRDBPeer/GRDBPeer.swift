import Foundation
import GRDB
import Measuring
import Workload

/// The workload on GRDB: records, a pool, and the same history by triggers as `sqlite-history`.
///
///     grdb-history run FILE [--sync full|normal] [--phases write,history,past,prune]
///     grdb-history open FILE
///     grdb-history queries FILE
@main
enum GRDBPeer {
  static func main() {
    do {
      let options = try Options(["sync", "posts", "operations", "phases"])
      guard options.words.count == 2 else { throw Failure("grdb-history run|open|queries FILE") }
      let sync = try options.choice("sync", "full", "normal")
      let recorder = Recorder(peer: "grdb-history", configuration: "sync=\(sync)")
      let path = options.words[1]
      if options.words[0] == "open" { return try open(path, sync, recorder) }
      let workload = Workload(
        posts: try options.number("posts", 100_000),
        operations: try options.number("operations", 20_000))
      if options.words[0] == "queries" {
        try QueryPhases(path, recorder, workload).run()
      } else {
        let phases = options.list("phases") ?? ["write", "history", "past", "prune"]
        try RunSession(path, sync, recorder, workload, Set(phases)).run()
      }
    } catch {
      FileHandle.standardError.write(Data("grdb-history: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func open(_ path: String, _ sync: String, _ recorder: Recorder) throws {
    let base = Footprint.resident
    let start = Mark()
    let pool = try connect(path, sync)
    let first = try pool.read { try PostRow.order(PostRow.Columns.id).fetchOne($0) }
    try expect("first objects", first == nil ? 0 : 1, is: 1)
    recorder.record("9 open to first object", items: 1, Mark() - start)
    let page = try pool.read { try PostRow.newestFirst.limit(200).fetchAll($0) }
    try expect("first page", page.count, is: 200)
    recorder.record("9a open to first 200 by date", items: 1, Mark() - start)
    recorder.megabytes("9c memory after open", Footprint.resident - base)
  }

  /// A pool with SQLite's settings as in `sqlite-history`.
  ///
  /// A pool makes commits NORMAL by itself, after its configuration, so FULL is set on its writer.
  static func connect(_ path: String, _ sync: String) throws -> DatabasePool {
    var configuration = Configuration()
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA cache_size=-65536; PRAGMA temp_store=MEMORY")
    }
    let pool = try DatabasePool(path: path, configuration: configuration)
    try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous=\(sync)") }
    return pool
  }

  /// Removes a database.
  static func remove(_ path: String) {
    for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
  }
}
