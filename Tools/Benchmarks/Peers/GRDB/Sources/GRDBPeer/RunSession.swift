import Foundation
import GRDB
import HistorySQL
import Measuring
import Workload

/// A run on a file of its own.
struct RunSession {
  private let path: String
  private let recorder: Recorder
  private let workload: Workload
  private let phases: Set<String>
  private let pool: DatabasePool

  init(
    _ path: String, _ sync: String, _ recorder: Recorder, _ workload: Workload,
    _ phases: Set<String>
  ) throws {
    self.path = path
    self.recorder = recorder
    self.workload = workload
    self.phases = phases
    if phases.contains("write") { GRDBPeer.remove(path) }
    pool = try GRDBPeer.connect(path, sync)
    if phases.contains("write") {
      try pool.write { try $0.execute(sql: HistorySchema.statements) }
    }
  }

  func run() throws {
    if phases.contains("write") { try write() }
    if phases.contains("history") { try readHistory() }
    if phases.contains("past") { try readPast() }
    if phases.contains("prune") { try prune() }
  }

  private func write() throws {
    let base = Footprint.resident
    try recorder.time("1 bulk insert", items: workload.posts.count) {
      try pool.write { database in
        try begin(database, at: workload.bulkTime, author: 2, context: 1)
        for (index, post) in workload.posts.enumerated() {
          try PostRow(id: index + 1, post).insert(database)
        }
      }
    }
    try checkpoint()
    recorder.megabytes("10a size after bulk", Footprint.file(path))
    try recorder.time("2 single-object txs", items: workload.operations.count) {
      for operation in workload.operations {
        try pool.write { try perform(operation, $0) }
      }
    }
    recorder.megabytes("10p peak memory over workload", Footprint.peak - base)
    try checkpoint()
    recorder.megabytes("10b size after txs", Footprint.file(path))
    try check("state after writing", PastOverlay(), after: workload.operations.count)
  }

  private func begin(_ database: Database, at time: Int64, author: Int, context: Int) throws {
    var row = TransactionRow(timestamp: time, author: author + 1, context: context + 11)
    try row.insert(database)
  }

  private func perform(_ operation: Workload.Operation, _ database: Database) throws {
    try begin(
      database, at: operation.time, author: operation.author, context: operation.context)
    switch operation.kind {
    case .insert: try PostRow(id: operation.object, operation.post).insert(database)
    case .delete: try PostRow.deleteOne(database, key: operation.object)
    case .update:
      try PostRow.filter(key: operation.object)
        .updateAll(database, PostRow.assignments(operation.properties, operation.post))
    }
  }

  private func readHistory() throws {
    let middle = 1 + workload.operations.count / 2
    try recorder.median("6 history after mid token", of: 7) {
      try readHistory(after: middle, workload.operations.count / 2)
    }
    try recorder.median("6a history over all", of: 3) {
      try readHistory(after: 0, workload.posts.count + workload.operations.count)
    }
  }

  private func readHistory(after number: Int, _ wanted: Int) throws -> Int {
    var count = 0
    try pool.read { database in
      let statement = try database.cachedStatement(sql: HistorySchema.history)
      let rows = try ChangeRow.fetchCursor(statement, arguments: [number])
      while try rows.next() != nil { count += 1 }
    }
    try expect("changes", count, is: wanted)
    return count
  }

  private func readPast() throws {
    let done = workload.operations.count / 2 - 1
    let overlay = try recorder.time("7 as of the middle", items: done) {
      try pool.read { database in
        var overlay = PastOverlay()
        let rows = try Row.fetchCursor(
          database, sql: HistorySchema.undoing, arguments: [1 + done])
        while let row = try rows.next() {
          var properties: PropertySet = []
          for property in PostProperty.allCases where !row.hasNull(atIndex: 2 + property.rawValue) {
            properties.insert(PropertySet(property))
          }
          overlay.undo(
            [.insert, .update, .delete][row[1] as Int], of: row[0], properties,
            PostRow.post(row, from: 2))
        }
        return overlay
      }
    }
    try recorder.time("7b then all objects", items: workload.liveCount) {
      var sum: Int64 = 0
      try pool.read { database in
        let rows = try PostRow.order(PostRow.Columns.id).fetchCursor(database)
        while let row = try rows.next() {
          sum &+= overlay.past(row.id, row.post)?.timestamp ?? 0
        }
      }
      for object in overlay.onlyPast { sum &+= overlay.objects[object]?.post.timestamp ?? 0 }
      try expect("sum of dates is read", sum == 0, is: false)
    }
    try check("state as of \(done)", overlay, after: done)
  }

  /// Compares a state with the workload's.
  private func check(_ what: String, _ overlay: PastOverlay, after count: Int) throws {
    let found = try pool.read { database in
      try PostRow.order(PostRow.Columns.id).fetchAll(database).compactMap { row in
        overlay.past(row.id, row.post).map { (object: row.id, post: $0) }
      }
    }
    try overlay.check(what, found, against: WorkloadModel(workload, after: count))
  }

  private func prune() throws {
    let middle = 1 + workload.operations.count / 2
    try recorder.time("8 prune to the middle", items: middle) {
      try pool.write { try $0.execute(sql: HistorySchema.pruning(through: middle)) }
      try pool.vacuum()
      try checkpoint()
    }
    recorder.megabytes("10g size after prune", Footprint.file(path))
  }

  private func checkpoint() throws {
    _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
  }
}
