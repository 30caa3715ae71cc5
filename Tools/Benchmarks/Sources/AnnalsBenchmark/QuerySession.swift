import Annals
import Foundation
import Measuring
import Workload

/// Phases 3 to 5: queries of the objects, warm, with and without the index on the date.
struct QuerySession {
  private let setup: Setup
  private let path: String
  private let workload: Workload
  private let answers: QueryWorkload
  /// The lists to measure, `3b` or `3b index`; nil for everything.
  private let lists: [String]?
  private let repeats: Int

  private var recorder: Recorder { setup.recorder }
  private static let days = TimeZone(secondsFromGMT: 0) ?? .current

  init(_ path: String, _ setup: Setup, _ options: Options) throws {
    self.path = path
    self.setup = setup
    workload = Workload(
      posts: try options.number("posts", 100_000),
      operations: try options.number("operations", 20_000))
    answers = QueryWorkload(workload)
    lists = options.list("phases")
    repeats = try options.number("repeats", 7)
  }

  func run() throws {
    unlink(path)
    let store = try Store(path: path, records: PostRecord.self, options: setup.storeOptions)
    var writer = PostWriter(form: setup.form, capacity: workload.lastObject)
    try store.write { tx in
      for post in workload.posts { try writer.insert(post, tx) }
      for operation in workload.operations { try writer.perform(operation, tx) }
    }
    let snapshot = store.snapshot()
    let newest = Fetch(PostRecord.self).sorted(by: \.timestamp, .descending)
    try measure(snapshot, newest, "index")
    try measure(snapshot, newest.withoutIndexes(), "scan")
    try measureTimeline(snapshot)
    guard lists == nil else { return try store.close() }
    for (degrees, name) in [(2, "2"), (0.2, "0.2")] {
      try measureBoxes(snapshot, degrees, name, "scan")
    }
    try measureWriting(store)
    try measureBoxIndex(store)
    try store.close()
  }

  private func measure(
    _ snapshot: Snapshot, _ fetch: Fetch<PostRecord>, _ way: String
  ) throws {
    try median("3a", "all ids by date", way) {
      let ids = try snapshot.objectIDs(fetch)
      try expect("ids by date", ids.count, is: answers.byDate.count)
      try expect("last id by date", ids.last?.row, is: answers.byDate.last.map(Int64.init))
      return ids.count
    }
    try median("3b", "first 200", way) { try read(snapshot, fetch.limit(200), from: 0) }
    try median("3c", "200 at offset 50,000", way) {
      try read(snapshot, fetch.limit(200).offset(50_000), from: 50_000)
    }
    try median("3d", "all rows by date", way) { try read(snapshot, fetch, from: 0) }
    try median("4", "count per day", way) {
      let days = try snapshot.groups(
        fetch.sorted(), by: .each(.day, of: \.timestamp, in: Self.days))
      try expect("counts of days", days.map(\.count).sorted(), is: answers.days.sorted())
      return days.count
    }
  }

  private func measureTimeline(_ snapshot: Snapshot) throws {
    let timeline = Timeline(start: \PostRecord.timestamp).labeled(by: \.title)
    let now = Date(timeIntervalSince1970: 0)
    try median("18", "timeline", "rows") {
      let rows = try snapshot.timeline(timeline, now: now)
      try expect("rows of the timeline", rows.count, is: answers.byDate.count)
      return rows.count
    }
    let rows = try snapshot.timeline(timeline, now: now)
    try median("18", "timeline", "in another order") {
      rows.ordered(TimelineOrder(isDescending: true)).count
    }
  }

  /// Measures one list in one way, if it is selected.
  private func median(
    _ number: String, _ name: String, _ way: String, _ body: () throws -> Int
  ) throws {
    guard lists.map({ $0.contains(number) || $0.contains("\(number) \(way)") }) ?? true else {
      return
    }
    try recorder.median("\(number) \(name), \(way)", of: repeats, body)
  }

  /// Reads every value of the objects of a fetch.
  private func read(
    _ snapshot: Snapshot, _ fetch: Fetch<PostRecord>, from place: Int
  ) throws -> Int {
    let found = try snapshot.fetch(fetch)
    for object in found { Sink.consume(object.value.timestamp) }
    try expect(
      "object at \(place)", found.first?.objectID.row, is: Int64(answers.byDate[place]))
    return found.count
  }

  /// The same boxes with a box index.
  private func measureBoxIndex(_ store: Store) throws {
    try store.write { tx in
      for post in try tx.objects(of: "Post").dropFirst(answers.byDate.count) {
        try tx.delete(post.objectID)
      }
    }
    try recorder.time("5 box index of \(answers.byDate.count) objects, built", items: 1) {
      try store.require(
        Schema {
          Entity("Post") {
            Attribute("latitude", .double)
            Attribute("longitude", .double)
            IndexDescription("place", box: ["latitude", "longitude"])
          }
        })
    }
    let snapshot = store.snapshot()
    for (degrees, name) in [(2, "2"), (0.2, "0.2")] {
      try measureBoxes(snapshot, degrees, name, "box index")
    }
    try recorder.time("5 1,000 commits with a box index", items: 1_000) {
      for number in 0..<1_000 {
        try store.write { tx in _ = try tx.insert(PostRecord(workload.posts[number])) }
      }
    }
  }

  private func measureBoxes(
    _ snapshot: Snapshot, _ degrees: Double, _ name: String, _ way: String
  ) throws {
    let boxes = answers.boxes(degrees)
    let wanted = boxes.map(answers.count)
    try recorder.median("5 ten boxes of \(name) degrees, \(way)", of: 7) {
      var counts: [Int] = []
      for box in boxes {
        let (south, north) = (box.latitudes.lowerBound, box.latitudes.upperBound)
        let (west, east) = (box.longitudes.lowerBound, box.longitudes.upperBound)
        let inside = Fetch(PostRecord.self).where(
          \.latitude >= south && \.latitude <= north && \.longitude >= west && \.longitude <= east)
        counts.append(try snapshot.objectIDs(inside).count)
      }
      try expect("objects in boxes", counts, is: wanted)
      return counts.reduce(0, +)
    }
  }

  /// Measures the cost of a held snapshot to later writes.
  private func measureWriting(_ store: Store) throws {
    for (name, holds) in [("none held", false), ("one held", true), ("none held again", false)] {
      let held = holds ? store.snapshot() : nil
      let before = try held?.count(of: PostRecord.self)
      try recorder.time("3s 1,000 commits, snapshot: \(name)", items: 1_000) {
        for number in 0..<1_000 {
          try store.write { tx in _ = try tx.insert(PostRecord(workload.posts[number])) }
        }
      }
      try expect("objects of the snapshot", try held?.count(of: PostRecord.self), is: before)
    }
  }
}
