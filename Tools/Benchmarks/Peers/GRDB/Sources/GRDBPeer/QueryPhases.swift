import Foundation
import GRDB
import HistorySQL
import Measuring
import Workload

/// Phases 3 to 5 on GRDB: queries of the table, warm, by the index on the date.
struct QueryPhases {
  private let pool: DatabasePool
  private let recorder: Recorder
  private let answers: QueryWorkload

  init(_ path: String, _ recorder: Recorder, _ workload: Workload) throws {
    GRDBPeer.remove(path)
    pool = try GRDBPeer.connect(path, "normal")
    self.recorder = recorder
    answers = QueryWorkload(workload)
    let model = WorkloadModel(workload, after: workload.operations.count)
    try pool.write { database in
      try database.execute(sql: HistorySchema.table)
      for (index, post) in model.objects.enumerated() {
        if let post { try PostRow(id: index + 1, post).insert(database) }
      }
      try database.execute(
        sql: """
          CREATE VIRTUAL TABLE box USING rtree(id, minLat, maxLat, minLon, maxLon);
          INSERT INTO box SELECT id, latitude, latitude, longitude, longitude FROM post; ANALYZE
          """)
    }
  }

  func run() throws {
    let newest = PostRow.newestFirst
    try measure("3a all ids by date, index") { database in
      let ids = try newest.select(PostRow.Columns.id, as: Int.self).fetchAll(database)
      try expect("ids by date", ids == answers.byDate, is: true)
      return ids.count
    }
    try measure("3b first 200, index") { try fetch(newest.limit(200), 0, $0) }
    try measure("3c 200 at offset 50,000, index") {
      try fetch(newest.limit(200, offset: 50_000), 50_000, $0)
    }
    try measure("3d all rows by date, index") { try fetch(newest, 0, $0) }
    try measure("4 count per day, index") { database in
      let counts = try Int.fetchAll(
        database, sql: "SELECT count(*) FROM post GROUP BY timestamp / 86400000000")
      try expect("counts of days", counts.sorted(), is: answers.days.sorted())
      return counts.count
    }
    for (degrees, name) in [(2, "2"), (0.2, "0.2")] { try measureBoxes(degrees, name) }
  }

  private func fetch(
    _ request: QueryInterfaceRequest<PostRow>, _ place: Int, _ database: Database
  ) throws -> Int {
    let rows = try request.fetchAll(database)
    try expect("object at \(place)", rows.first?.id, is: answers.byDate[place])
    return rows.count
  }

  private func measureBoxes(_ degrees: Double, _ name: String) throws {
    let boxes = answers.boxes(degrees)
    let wanted = boxes.map(answers.count)
    let scan = """
      SELECT id FROM post WHERE latitude BETWEEN ?1 AND ?2 AND longitude BETWEEN ?3 AND ?4
      """
    // The R-tree rounds coordinates to floats, so the rows decide.
    let tree = """
      SELECT post.id FROM box JOIN post USING(id) WHERE maxLat >= ?1 AND minLat <= ?2
      AND maxLon >= ?3 AND minLon <= ?4 AND latitude BETWEEN ?1 AND ?2
      AND longitude BETWEEN ?3 AND ?4
      """
    for (text, way) in [(scan, "scan"), (tree, "R-tree")] {
      try measure("5 ten boxes of \(name) degrees, \(way)") { database in
        let statement = try database.cachedStatement(sql: text)
        let counts = try boxes.map { box in
          try Int.fetchAll(
            statement,
            arguments: [
              box.latitudes.lowerBound, box.latitudes.upperBound, box.longitudes.lowerBound,
              box.longitudes.upperBound,
            ]
          ).count
        }
        try expect("objects in boxes", counts, is: wanted)
        return counts.reduce(0, +)
      }
    }
  }

  private func measure(_ phase: String, _ body: (Database) throws -> Int) throws {
    try pool.read { database in
      try recorder.median(phase, of: 7) { try body(database) }
    }
  }
}
