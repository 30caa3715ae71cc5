import Foundation
import Measuring
import Workload

/// A run on tables of its own.
struct RunSession {
  private let tables: any OrderedTables
  private let recorder: Recorder
  private let workload: Workload
  private let phases: Set<String>
  /// Consumes values, so that reading them is not optimised away.
  nonisolated(unsafe) private static var sink: UInt64 = 0

  init(
    _ tables: any OrderedTables, _ recorder: Recorder, _ workload: Workload, _ phases: Set<String>
  ) {
    self.tables = tables
    self.recorder = recorder
    self.workload = workload
    self.phases = phases
  }

  func run() throws {
    if phases.contains("write") { try write() }
    if phases.contains("history") { try readHistory() }
    if phases.contains("past") { try readPast() }
    if phases.contains("prune") { try prune() }
  }

  private func write() throws {
    let base = Footprint.resident
    let posts = PostTables(tables)
    try recorder.time("1 bulk insert", items: workload.posts.count) {
      let origin = PostTables.Origin(time: workload.bulkTime, author: 2, context: 1)
      try posts.write {
        for (index, post) in workload.posts.enumerated() {
          try posts.insert(index + 1, post, origin)
        }
      }
    }
    recorder.megabytes("10a size after bulk", tables.fileSize)
    try recorder.time("2 single-object txs", items: workload.operations.count) {
      for operation in workload.operations {
        let origin = PostTables.Origin(
          time: operation.time, author: operation.author, context: operation.context)
        try posts.write {
          switch operation.kind {
          case .insert: try posts.insert(operation.object, operation.post, origin)
          case .delete: try posts.delete(operation.object, origin)
          case .update:
            try posts.update(operation.object, operation.properties, operation.post, origin)
          }
        }
      }
    }
    recorder.megabytes("10p peak memory over workload", Footprint.peak - base)
    try tables.settle()
    recorder.megabytes("10b size after txs", tables.fileSize)
    try check("state after writing", PastOverlay(), after: workload.operations.count)
  }

  private func readHistory() throws {
    let count = workload.operations.count
    try recorder.median("6 history after mid token", of: 7) {
      try readHistory(after: 1 + count / 2, count - count / 2)
    }
    try recorder.median("6a history over all", of: 3) {
      try readHistory(after: 0, workload.posts.count + count)
    }
  }

  /// Reads every value before and after.
  private func readHistory(after number: Int, _ wanted: Int) throws -> Int {
    let posts = PostTables(tables)
    var count = 0
    var sum: UInt64 = 0
    try tables.read {
      try tables.scan(.log, from: posts.logKey(number + 1), backward: false) { key, value in
        var change = try LoggedChange(key, value)
        sum &+= change.values.touch(change.properties)
        if change.kind == .update { sum &+= change.values.touch(change.properties) }
        count += 1
        return true
      }
    }
    Self.sink &+= sum
    try expect("changes", count, is: wanted)
    return count
  }

  /// The state as of the middle: what differs from the newest is found by undoing changes; then
  /// every object is read, as it was.
  private func readPast() throws {
    let done = workload.operations.count / 2 - 1
    let posts = PostTables(tables)
    let overlay = try recorder.time("7 as of the middle", items: done) {
      var overlay = PastOverlay()
      let last = posts.logKey(1 + done, change: .max)
      let end = Array(last)
      try tables.read {
        try tables.scan(.log, from: nil, backward: true) { key, value in
          guard end.lexicographicallyPrecedes(key) else { return false }
          var change = try LoggedChange(key, value)
          var before = StoredPost()
          if change.kind != .insert { change.values.read(change.properties, into: &before) }
          overlay.undo(change.kind, of: change.object, change.properties, before)
          return true
        }
      }
      return overlay
    }
    try recorder.time("7b then all objects", items: workload.liveCount) {
      var sum: UInt64 = 0
      try tables.read {
        try tables.scan(.posts, from: nil, backward: false) { key, row in
          var reader = PackedReader(row)
          let difference = overlay.objects[PostTables.object(ofRow: key)]
          if difference?.isOnlyNew == true { return true }
          sum &+= reader.touch(.ofNewPost)
          if let difference { sum &+= UInt64(bitPattern: difference.post.timestamp) }
          return true
        }
      }
      for object in overlay.onlyPast {
        sum &+= UInt64(bitPattern: overlay.objects[object]?.post.timestamp ?? 0)
      }
      Self.sink &+= sum
    }
    try check("state as of \(done)", overlay, after: done)
  }

  /// Compares a state with the workload's.
  private func check(_ what: String, _ overlay: PastOverlay, after count: Int) throws {
    var found: [(object: Int, post: StoredPost)] = []
    try tables.read {
      try tables.scan(.posts, from: nil, backward: false) { key, row in
        var post = StoredPost()
        var reader = PackedReader(row)
        reader.read(.ofNewPost, into: &post)
        let object = PostTables.object(ofRow: key)
        if let past = overlay.past(object, post) { found.append((object, past)) }
        return true
      }
    }
    try overlay.check(what, found, against: WorkloadModel(workload, after: count))
  }

  private func prune() throws {
    let middle = 1 + workload.operations.count / 2
    let posts = PostTables(tables)
    try recorder.time("8 prune to the middle", items: middle) {
      try tables.pruneLog(before: posts.logKey(middle + 1))
    }
    recorder.megabytes("10g size after prune", tables.fileSize)
    _ = try readHistory(after: 0, workload.operations.count - workload.operations.count / 2)
  }
}
