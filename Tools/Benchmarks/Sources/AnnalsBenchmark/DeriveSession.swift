import Annals
import Foundation
import Measuring

/// Phase 24: what an opening costs that adds derived attributes to a store with objects.
///
/// Peak memory is that of a process, so each of the phases `prepare`, `open`, `count`, `normalized`
/// and `both` is a run of its own. `prepare` makes the store, the others open it.
struct DeriveSession {
  private let path: String
  private let setup: Setup
  private let options: Options
  /// How many topics there are, and how many posts in them.
  private let count: Int

  init(_ path: String, _ setup: Setup, _ options: Options) throws {
    self.path = path
    self.setup = setup
    self.options = options
    count = try options.number("posts", 100_000)
  }

  func run() throws {
    for phase in options.list("phases") ?? ["prepare"] {
      switch phase {
      case "prepare": try prepare()
      case "open": try fill(phase, DeriveSession.schema())
      case "count": try fill(phase, DeriveSession.schema(counts: true))
      case "normalized": try fill(phase, DeriveSession.schema(normalizes: true))
      case "both": try fill(phase, DeriveSession.schema(counts: true, normalizes: true))
      default: throw Failure("\(phase) is no phase of derive")
      }
    }
  }

  private static func schema(counts: Bool = false, normalizes: Bool = false) -> Schema {
    Schema {
      Entity("Topic") {
        Attribute("title", .string, isOptional: false)
        if counts { Attribute("posts", .int64, derived: .count("posts2")) }
        if normalizes { Attribute("key", .string, derived: .normalized("title")) }
      }
      Entity("Post") {
        Relationship("topic", to: "Topic", onDelete: .nullify, inverse: "posts2")
      }
    }
  }

  private func prepare() throws {
    let store = try Store(path: path, schema: DeriveSession.schema(), options: .deferred)
    for start in stride(from: 0, to: count, by: 10_000) {
      try store.write { tx in
        for number in start..<min(count, start + 10_000) {
          let topic = try tx.insert("Topic", ["title": .string("Über Thema \(number)")])
          try tx.insert("Post", ["topic": .object(ObjectReference(topic))])
        }
      }
    }
    try store.close()
    setup.recorder.value("24 file of so many topics", Double(Footprint.file(path)) / 1e6, "MB")
  }

  private func fill(_ phase: String, _ schema: Schema) throws {
    let pauses = Pauses()
    var options = StoreOptions.deferred
    options.progress = { _ in pauses.note() }
    let size = Footprint.file(path)
    let start = Mark()
    pauses.note()
    let store = try Store(path: path, schema: schema, options: options)
    let taken = Mark() - start
    let written = Footprint.file(path) - size
    let record = setup.recorder.value
    record("24 \(phase): time", Double(taken.wall) / 1e9, "s")
    record("24 \(phase): CPU", Double(taken.user + taken.system) / 1e9, "s")
    record("24 \(phase): peak memory", Double(Footprint.peak) / 1e6, "MB")
    record("24 \(phase): written to the file", Double(written) / 1e6, "MB")
    record("24 \(phase): reports of progress", Double(pauses.count), "")
    record("24 \(phase): longest pause between two", pauses.longest, "ms")
    try store.close()
  }
}

/// The pauses between reports of progress.
private final class Pauses: @unchecked Sendable {
  // Used on one thread.
  private var last: Int64?
  private(set) var count = -1
  private(set) var longest = 0.0

  func note() {
    let now = LiveSession.now()
    if let last { longest = max(longest, Double(now - last) / 1e6) }
    last = now
    count += 1
  }
}
