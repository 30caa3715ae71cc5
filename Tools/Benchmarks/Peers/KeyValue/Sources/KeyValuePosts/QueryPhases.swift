import Foundation
import Measuring
import Workload

/// Phases 3 to 5: lists by the table of dates, and boxes by reading every post.
struct QueryPhases {
  private let tables: any OrderedTables
  private let posts: PostTables
  private let recorder: Recorder
  private let answers: QueryWorkload
  /// Consumes values, so that reading them is not optimised away.
  nonisolated(unsafe) private static var sink: UInt64 = 0

  init(_ tables: any OrderedTables, _ recorder: Recorder, _ workload: Workload) throws {
    self.tables = tables
    self.recorder = recorder
    let posts = PostTables(tables)
    self.posts = posts
    answers = QueryWorkload(workload)
    let model = WorkloadModel(workload, after: workload.operations.count)
    let origin = PostTables.Origin(time: 0, author: 0, context: 0)
    try posts.write {
      for (index, post) in model.objects.enumerated() {
        if let post { try posts.insert(index + 1, post, origin, logged: false) }
      }
    }
    try tables.settle()
  }

  func run() throws {
    try measure("3a all ids by date, index") {
      var ids: [Int] = []
      try tables.scan(.dates, from: nil, backward: true) { key, _ in
        ids.append(PostTables.object(key))
        return true
      }
      try expect("ids by date", ids == answers.byDate, is: true)
      return ids.count
    }
    try measure("3b first 200, index") { try page(0, 200) }
    try measure("3c 200 at offset 50,000, index") { try page(50_000, 200) }
    try measure("3d all rows by date, index") { try page(0, .max) }
    try measure("4 count per day, index") { try countDays() }
    for (degrees, name) in [(2, "2"), (0.2, "0.2")] { try measureBoxes(degrees, name) }
  }

  private func page(_ start: Int, _ count: Int) throws -> Int {
    try Self.readPage(posts, from: start, count: count) { first in
      try expect("object at \(start)", first, is: answers.byDate[start])
    }
  }

  /// Reads every value of a page, newest first; `first` gets the number of its first object.
  static func readPage(
    _ posts: PostTables, from start: Int, count: Int, _ first: (Int) throws -> Void
  ) throws -> Int {
    var place = 0
    var found = 0
    var sum: UInt64 = 0
    try posts.tables.scan(.dates, from: nil, backward: true) { key, _ in
      defer { place += 1 }
      if place < start { return true }
      let object = PostTables.object(key)
      if found == 0 { try first(object) }
      try posts.tables.get(.posts, posts.rowKey(object)) { row in
        var reader = PackedReader(row)
        sum &+= reader.touch(.ofNewPost)
      }
      found += 1
      return found < count
    }
    sink &+= sum
    return found
  }

  /// Keys of dates alone say the day.
  private func countDays() throws -> Int {
    var counts: [Int] = []
    var day: Int64 = -1
    try tables.scan(.dates, from: nil, backward: false) { key, _ in
      let date = Int64(bigEndian: key.loadUnaligned(as: Int64.self))
      if date / 86_400_000_000 == day {
        counts[counts.count - 1] += 1
      } else {
        day = date / 86_400_000_000
        counts.append(1)
      }
      return true
    }
    try expect("counts of days", counts, is: answers.days)
    return counts.count
  }

  private func measureBoxes(_ degrees: Double, _ name: String) throws {
    let boxes = answers.boxes(degrees)
    let wanted = boxes.map(answers.count)
    try measure("5 ten boxes of \(name) degrees, scan") {
      let counts = try boxes.map { box in
        var ids: [Int] = []
        try tables.scan(.posts, from: nil, backward: false) { key, row in
          let place = PackedPost.place(row)
          if box.latitudes ~= place.latitude && box.longitudes ~= place.longitude {
            ids.append(PostTables.object(ofRow: key))
          }
          return true
        }
        return ids.count
      }
      try expect("objects in boxes", counts, is: wanted)
      return counts.reduce(0, +)
    }
  }

  private func measure(_ phase: String, _ body: () throws -> Int) throws {
    try tables.read { try recorder.median(phase, of: 7, body) }
  }
}
