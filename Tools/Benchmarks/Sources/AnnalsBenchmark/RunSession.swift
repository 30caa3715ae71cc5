import Annals
import Foundation
import Measuring
import Workload

/// All phases over one file.
struct RunSession {
  let path: String
  let setup: Setup
  let workload: Workload
  let phases: Set<String>
  let clock = WorkloadClock()

  var recorder: Recorder { setup.recorder }

  init(_ path: String, _ setup: Setup, _ options: Options) throws {
    self.path = path
    self.setup = setup
    let operations = try options.number("operations", 20_000)
    workload = Workload(operations: operations)
    if operations == 20_000 {
      try expect("workload", workload.checksum, is: Workload.expectedChecksum)
    }
    phases = Set(
      options.list("phases") ?? ["write", "history", "past", "sizes", "replay", "prune"])
  }

  func run() throws {
    if phases.contains("write") {
      unlink(path)
      try write()
    }
    if phases.contains("history") { try HistoryPhases(self).run() }
    if phases.contains("past") { try readPast() }
    if phases.contains("replay") { try replay() }
    if phases.contains("sizes") { try measureSizes() }
    if phases.contains("prune") { try prune() }
  }

  /// Opens the store.
  func open(_ path: String) throws -> Store {
    try Store(
      path: path, records: PostRecord.self, options: setup.storeOptions,
      environment: clock.environment)
  }

  /// The number of the transaction of the bulk insert. Creating the store commits the schema first.
  static let bulkNumber: Int64 = 2

  // MARK: 1, 2: writing

  private func write() throws {
    clock.set(workload.bulkTime)
    let base = Footprint.resident
    let store = try open(path)
    var writer = PostWriter(form: setup.form, capacity: workload.lastObject)
    try recorder.time("1 bulk insert", items: workload.posts.count) {
      try store.write(author: Vocabulary.authors[2], context: Vocabulary.contexts[1]) { tx in
        for post in workload.posts { try writer.insert(post, tx) }
      }
    }
    try expect("number of the bulk insert", store.token.number, is: Self.bulkNumber)
    recorder.megabytes("10a size after bulk", Footprint.file(path))
    try recorder.time("2 single-object txs", items: workload.operations.count) {
      for operation in workload.operations {
        clock.set(operation.time)
        try store.write(
          author: Vocabulary.authors[operation.author],
          context: Vocabulary.contexts[operation.context]
        ) { tx in try writer.perform(operation, tx) }
      }
    }
    recorder.megabytes("10p peak memory over workload", Footprint.peak - base)
    recorder.megabytes("10b size after txs", Footprint.file(path))
    let head = Self.bulkNumber + Int64(workload.operations.count)
    try expect("head", store.token.number, is: head)
    try check("state after writing", store.snapshot(), after: workload.operations.count)
    try recorder.time("2c close", items: 1) { try store.close() }
    recorder.megabytes("10c size after close", Footprint.file(path))
    let reopened = try open(path)
    try check("state after opening", reopened.snapshot(), after: workload.operations.count)
    try reopened.close()
  }

  /// Compares a state with the workload's state after some of its operations.
  func check(_ what: String, _ snapshot: Snapshot, after count: Int) throws {
    let model = WorkloadModel(workload, after: count)
    try expect("\(what): count", snapshot.count(of: PostRecord.self), is: model.liveCount)
    var digest = StateDigest()
    try snapshot.forEachObject(of: PostRecord.self) { object in
      guard let post = object.value.workloadPost else { throw Failure("\(what): no such post") }
      digest.add(object: Int(object.objectID.row), post)
    }
    try expect("\(what): objects", digest.count, is: model.liveCount)
    try expect("\(what): checksum", digest.value, is: model.checksum)
  }

  // MARK: 7: the past

  private func readPast() throws {
    let done = workload.operations.count / 2 - 1
    let number = Self.bulkNumber + Int64(done)
    let store = try open(path)
    try check("newest state", store.snapshot(), after: workload.operations.count)
    let snapshot = try recorder.time("7 as of the middle", items: done) {
      try store.snapshot(at: number)
    }
    _ = try recorder.time("7b then all objects", items: snapshot.count(of: PostRecord.self)) {
      try snapshot.forEachObject(of: PostRecord.self) { Sink.consume($0.timestamp) }
    }
    try check("state as of \(number)", snapshot, after: done)
    try store.close()
  }

  // MARK: 8: pruning

  private func prune() throws {
    let done = workload.operations.count / 2
    let store = try open(path)
    let floor = Self.bulkNumber + Int64(done) + 1
    try recorder.time("8 prune to the middle", items: done + 1) {
      try store.prune(store.prunePlan(before: floor))
    }
    try check("state after pruning", store.snapshot(), after: workload.operations.count)
    try check("oldest state", store.snapshot(at: floor - 1), after: done)
    try store.close()
    recorder.megabytes("10g size after prune", Footprint.file(path))
  }
}

/// Consumes values, so that reading them is not optimised away.
enum Sink {
  nonisolated(unsafe) private static var sum: UInt64 = 0

  static func consume(_ number: UInt64) { sum &+= number }
  static func consume(_ date: Date) { sum &+= date.timeIntervalSinceReferenceDate.bitPattern }
}
