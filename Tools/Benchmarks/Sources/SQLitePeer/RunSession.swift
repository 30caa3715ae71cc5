import Foundation
import HistorySQL
import Measuring
import Workload

/// A run on a file of its own.
struct RunSession {
  private let path: String
  private let recorder: Recorder
  private let workload: Workload
  private let phases: Set<String>
  private let database: Database
  private let beginning: Statement
  private let commit: Statement
  private let transaction: Statement
  private let insertion: Statement
  private let deletion: Statement
  private var updates: [PropertySet: Statement] = [:]

  init(
    _ path: String, _ sync: String, _ recorder: Recorder, _ workload: Workload,
    _ phases: Set<String>
  ) throws {
    self.path = path
    self.recorder = recorder
    self.workload = workload
    self.phases = phases
    if phases.contains("write") {
      for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    }
    database = try SQLitePeer.connect(path, sync)
    if phases.contains("write") { try database.run(HistorySchema.statements) }
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
    if phases.contains("write") { try write() }
    if phases.contains("history") { try readHistory() }
    if phases.contains("past") { try readPast() }
    if phases.contains("prune") { try prune() }
  }

  private func write() throws {
    let base = Footprint.resident
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
    recorder.megabytes("10p peak memory over workload", Footprint.peak - base)
    try checkpoint()
    recorder.megabytes("10b size after txs", Footprint.file(path))
    try check("state after writing", PastOverlay(), after: workload.operations.count)
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

  /// The state as of the middle: what differs from the newest is found by undoing changes; then
  /// every object is read, as it was.
  private func readPast() throws {
    let done = workload.operations.count / 2 - 1
    let undoing = try database.prepare(HistorySchema.undoing)
    let overlay = recorder.time("7 as of the middle", items: done) {
      undoing.bind(1, 1 + done)
      var overlay = PastOverlay()
      while undoing.step() {
        overlay.undo(
          [.insert, .update, .delete][undoing.int(1)], of: undoing.int(0),
          undoing.properties(from: 2), undoing.post(from: 2))
      }
      undoing.reset()
      return overlay
    }
    let all = try database.prepare("SELECT * FROM post ORDER BY id")
    recorder.time("7b then all objects", items: workload.liveCount) {
      var sum: Int64 = 0
      while all.step() {
        guard let difference = overlay.objects[all.int(0)] else {
          all.touchRow()
          continue
        }
        if difference.isOnlyNew { continue }
        all.touchRow()
        sum &+= difference.post.timestamp
      }
      all.reset()
      for object in overlay.onlyPast { sum &+= overlay.objects[object]?.post.timestamp ?? 0 }
      Statement.consume(sum)
    }
    try check("state as of \(done)", overlay, after: done)
  }

  /// Compares a state with the workload's.
  private func check(_ what: String, _ overlay: PastOverlay, after count: Int) throws {
    let all = try database.prepare("SELECT * FROM post ORDER BY id")
    var found: [(object: Int, post: StoredPost)] = []
    all.forEachPost { object, post in
      if let past = overlay.past(object, post()) { found.append((object, past)) }
    }
    try overlay.check(what, found, against: WorkloadModel(workload, after: count))
  }

  private func prune() throws {
    let middle = 1 + workload.operations.count / 2
    try recorder.time("8 prune to the middle", items: middle) {
      let statements = HistorySchema.pruning(through: middle)
      try database.run("BEGIN IMMEDIATE; \(statements) COMMIT; VACUUM")
      try checkpoint()
    }
    recorder.megabytes("10g size after prune", Footprint.file(path))
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
