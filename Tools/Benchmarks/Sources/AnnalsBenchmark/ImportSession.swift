import Annals
import AnnalsExchange
import Foundation
import Measuring
import Workload

/// The history of the workload as JSON Lines, a line for each transaction, read into a new store.
struct ImportSession {
  private let path: String
  private let setup: Setup
  private let workload: Workload

  init(_ path: String, _ setup: Setup, _ options: Options) throws {
    self.path = path
    self.setup = setup
    workload = Workload(
      posts: try options.number("posts", 1_000),
      operations: try options.number("operations", 100_000))
  }

  func run() throws {
    let input = path + ".jsonl"
    unlink(path)
    unlink(input)
    defer { unlink(input) }
    let source = try Store(.memory, records: PostRecord.self)
    var writer = PostWriter(form: .typed, capacity: workload.lastObject)
    try source.write { tx in for post in workload.posts { try writer.insert(post, tx) } }
    for operation in workload.operations {
      try source.write { tx in try writer.perform(operation, tx) }
    }
    let lines = workload.operations.count + 2
    try setup.recorder.time("25 export, a transaction", items: lines) {
      try expect("lines", source.export(to: input).count, is: Int64(lines))
    }
    setup.recorder.megabytes("25 file of lines", Footprint.file(input))
    try setup.recorder.time("25 import, a transaction", items: lines) {
      try expect("lines", Store.import(from: input, to: path).count, is: Int64(lines))
    }
    let store = try Store(path: path, records: PostRecord.self)
    try expect(
      "objects", store.snapshot().count(of: PostRecord.self), is: workload.liveCount)
    try store.close()
  }
}
