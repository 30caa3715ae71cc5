import Foundation
import Measuring
import Workload

/// The workload on SQLite with its history kept by triggers, as a program would do without Annals.
/// WAL, FULL, statements prepared once.
///
///     sqlite-history run FILE [--sync full|normal|off]
///     sqlite-history open FILE
///     sqlite-history queries FILE [--posts N] [--operations N]
@main
enum SQLitePeer {
  static func main() {
    do {
      let options = try Options(["sync", "posts", "operations"])
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
          try Session(path, sync, recorder, workload).run()
        }
      }
    } catch {
      FileHandle.standardError.write(Data("sqlite-history: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func open(_ path: String, _ sync: String, _ recorder: Recorder) throws {
    let database = try recorder.time("9 open to first object", items: 1) {
      let database = try connect(path, sync)
      let first = try database.prepare("SELECT * FROM post ORDER BY id LIMIT 1")
      try expect("first objects", first.readAll(), is: 1)
      return database
    }
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

/// A run on a file of its own.
private struct Session {
  private let path: String
  private let recorder: Recorder
  private let workload: Workload
  private let database: Database
  private let beginning: Statement
  private let commit: Statement
  private let transaction: Statement
  private let insertion: Statement
  private let deletion: Statement
  private var updates: [PropertySet: Statement] = [:]

  init(_ path: String, _ sync: String, _ recorder: Recorder, _ workload: Workload) throws {
    self.path = path
    self.recorder = recorder
    self.workload = workload
    for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    database = try SQLitePeer.connect(path, sync)
    try database.run(HistorySchema.statements)
    beginning = try database.prepare("BEGIN IMMEDIATE")
    commit = try database.prepare("COMMIT")
    transaction = try database.prepare(
      "INSERT INTO history_transaction(timestamp, author, context) VALUES(?, ?, ?)")
    insertion = try database.prepare("INSERT INTO post VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    deletion = try database.prepare("DELETE FROM post WHERE id = ?")
    // Prepare every statement before the measurement.
    for operation in workload.operations where operation.kind == .update {
      guard updates[operation.properties] == nil else { continue }
      let set = PostProperty.allCases.filter { operation.properties.contains($0) }
        .map { "\($0) = ?" }.joined(separator: ", ")
      updates[operation.properties] = try database.prepare("UPDATE post SET \(set) WHERE id = ?")
    }
  }

  func run() throws {
    try recorder.time("1 bulk insert", items: workload.posts.count) {
      try begin(at: workload.bulkTime, author: 2, context: 1)
      for (index, post) in workload.posts.enumerated() { try insert(index + 1, post) }
      try commit.run()
    }
    try checkpoint()
    recorder.megabytes("10a size after bulk", Footprint.file(path))
    try recorder.time("2 single-object txs", items: workload.operations.count) {
      for operation in workload.operations { try perform(operation) }
    }
    recorder.megabytes("10p peak memory", Footprint.peak)
    try checkpoint()
    recorder.megabytes("10b size after txs", Footprint.file(path))
    let count = try database.prepare("SELECT count(*) FROM post").number()
    try expect("objects", count, is: workload.liveCount)
    try readHistory()
    try prune()
  }

  private func readHistory() throws {
    let middle = Int64(1 + workload.operations.count / 2)
    let history = try database.prepare(HistorySchema.history)
    recorder.median("6 history after mid token", of: 7) {
      history.bind(1, middle)
      return history.readAll()
    }
    recorder.median("6a history over all", of: 3) {
      history.bind(1, 0)
      return history.readAll()
    }
  }

  private func prune() throws {
    let middle = 1 + workload.operations.count / 2
    try recorder.time("8 prune to the middle", items: middle) {
      try database.run(
        """
        BEGIN IMMEDIATE; DELETE FROM change WHERE transaction_id <= \(middle);
        DELETE FROM history_transaction WHERE id <= \(middle); COMMIT; VACUUM
        """)
      try checkpoint()
    }
    recorder.megabytes("10c size after prune", Footprint.file(path))
  }

  private func checkpoint() throws {
    _ = try database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").readAll()
  }

  private func begin(at time: Int64, author: Int, context: Int) throws {
    try beginning.run()
    transaction.bind(1, time)
    transaction.bind(2, author + 1)
    transaction.bind(3, context + 11)
    try transaction.run()
  }

  private func insert(_ object: Int, _ post: WorkloadPost) throws {
    insertion.bind(1, object)
    for property in PostProperty.allCases {
      insertion.bind(Int32(property.rawValue + 2), property, of: post)
    }
    try insertion.run()
  }

  private func perform(_ operation: Workload.Operation) throws {
    try begin(at: operation.time, author: operation.author, context: operation.context)
    switch operation.kind {
    case .insert: try insert(operation.object, operation.post)
    case .delete:
      deletion.bind(1, operation.object)
      try deletion.run()
    case .update:
      guard let update = updates[operation.properties] else { return }
      var place: Int32 = 1
      for property in PostProperty.allCases where operation.properties.contains(property) {
        update.bind(place, property, of: operation.post)
        place += 1
      }
      update.bind(place, operation.object)
      try update.run()
    }
    try commit.run()
  }
}
