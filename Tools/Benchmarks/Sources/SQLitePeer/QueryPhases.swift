import Foundation
import HistorySQL
import Measuring
import Workload

/// Phases 3 to 5 on SQLite: queries of the table, warm, with and without the index on the date.
struct QueryPhases {
  private let database: Database
  private let recorder: Recorder
  private let workload: Workload
  private let answers: QueryWorkload

  init(_ path: String, _ sync: String, _ recorder: Recorder, _ workload: Workload) throws {
    for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    database = try SQLitePeer.connect(path, sync)
    self.recorder = recorder
    self.workload = workload
    answers = QueryWorkload(workload)
    try fill()
  }

  /// The objects after all operations, without their history.
  private func fill() throws {
    try database.run(HistorySchema.table)
    let model = WorkloadModel(workload, after: workload.operations.count)
    let insertion = try database.prepare("INSERT INTO post VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    try database.run("BEGIN")
    for (index, post) in model.objects.enumerated() {
      guard let post else { continue }
      insertion.bind(1, index + 1)
      for property in PostProperty.allCases {
        insertion.bind(Int32(property.rawValue + 2), property, of: post)
      }
      try insertion.run()
    }
    try database.run(
      """
      CREATE VIRTUAL TABLE box USING rtree(id, minLat, maxLat, minLon, maxLon);
      INSERT INTO box SELECT id, latitude, latitude, longitude, longitude FROM post; COMMIT; ANALYZE
      """)
  }

  func run() throws {
    try measure("", "index")
    try measure(" NOT INDEXED", "scan")
    for (degrees, name) in [(2, "2"), (0.2, "0.2")] {
      let boxes = answers.boxes(degrees)
      try measure("5 ten boxes of \(name) degrees, scan", boxes) {
        "SELECT id FROM post WHERE latitude BETWEEN \($0.latitudes.lowerBound) AND "
          + "\($0.latitudes.upperBound) AND longitude BETWEEN \($0.longitudes.lowerBound) AND "
          + "\($0.longitudes.upperBound)"
      }
      // The R-tree rounds coordinates to floats, so the rows decide.
      try measure("5 ten boxes of \(name) degrees, R-tree", boxes) {
        "SELECT post.id FROM box JOIN post USING(id) WHERE maxLat >= \($0.latitudes.lowerBound) "
          + "AND minLat <= \($0.latitudes.upperBound) AND maxLon >= \($0.longitudes.lowerBound) "
          + "AND minLon <= \($0.longitudes.upperBound) AND latitude BETWEEN "
          + "\($0.latitudes.lowerBound) AND \($0.latitudes.upperBound) AND longitude BETWEEN "
          + "\($0.longitudes.lowerBound) AND \($0.longitudes.upperBound)"
      }
    }
  }

  private func measure(_ table: String, _ way: String) throws {
    let order = "FROM post\(table) ORDER BY timestamp DESC, id DESC"
    let count = answers.byDate.count
    try measure("3a all ids by date, \(way)", "SELECT id \(order)", rows: count)
    try measure("3b first 200, \(way)", "SELECT * \(order) LIMIT 200", rows: 200)
    try measure(
      "3c 200 at offset 50,000, \(way)", "SELECT * \(order) LIMIT 200 OFFSET 50000", rows: 200)
    try measure("3d all rows by date, \(way)", "SELECT * \(order)", rows: count)
    try measure(
      "4 count per day, \(way)",
      "SELECT timestamp / 86400000000, count(*) FROM post\(table) GROUP BY 1",
      rows: answers.days.count)
  }

  private func measure(_ phase: String, _ text: String, rows: Int) throws {
    let statement = try database.prepare(text)
    try recorder.median(phase, of: 7) {
      let found = statement.readAll()
      try expect(phase, found, is: rows)
      return found
    }
  }

  private func measure(
    _ phase: String, _ boxes: [QueryWorkload.Box], _ text: (QueryWorkload.Box) -> String
  ) throws {
    let rows = boxes.map(answers.count)
    let statements = try boxes.map { try database.prepare(text($0)) }
    try recorder.median(phase, of: 7) {
      let found = statements.map { $0.readAll() }
      try expect(phase, found, is: rows)
      return found.reduce(0, +)
    }
  }
}
