import Annals
import Foundation
import Measuring

/// Phase 9: a new process opens the file and reads.
struct OpenSession {
  let path: String
  let setup: Setup

  init(_ path: String, _ setup: Setup) throws {
    self.path = path
    self.setup = setup
  }

  func run() throws {
    let recorder = setup.recorder
    let base = Footprint.resident
    let start = Mark()
    let store = try Store(path: path, records: PostRecord.self, options: setup.storeOptions)
    try readFirst(store.snapshot())
    recorder.record("9 open to first object", items: 1, Mark() - start)
    let newest = Fetch(PostRecord.self).sorted(by: \.timestamp, .descending).limit(200)
    try expect("first page", store.snapshot().fetch(newest).count, is: 200)
    recorder.record("9a open to first 200 by date", items: 1, Mark() - start)
    recorder.megabytes("9c memory after open", Footprint.resident - base)
    let snapshot = store.snapshot()
    let count = try snapshot.count(of: PostRecord.self)
    var found = 0
    try recorder.time("9b then all objects", items: count) {
      try snapshot.forEachObject(of: PostRecord.self) { object in
        found += 1
        Sink.consume(object.timestamp)
      }
    }
    try expect("objects", found, is: count)
    let loaded = Footprint.resident - base
    recorder.megabytes("9d memory with everything loaded", loaded)
    recorder.value("9e memory a post", Double(loaded) / Double(count), "bytes")
    try store.close()
  }

  private func readFirst(_ snapshot: Snapshot) throws {
    struct Enough: Error {}
    do {
      try snapshot.forEachObject(of: PostRecord.self) { object in
        Sink.consume(object.timestamp)
        throw Enough()
      }
      throw Failure("there is no object")
    } catch is Enough {}
  }
}
