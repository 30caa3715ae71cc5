import Annals
import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

/// Clocks that were ahead or behind, and what dates mean then. Days count from the lab's start.
struct WrongClockTests {
  private let lab = ConsumerLab()

  /// How a transaction got a wrong date.
  enum Way: CaseIterable {
    case written, imported
  }

  private let year2040 = 6_000.0
  private let year1970 = -19_000.0

  /// A store with a transaction on each of these days, the first of which is transaction 2; now is
  /// the day after the last.
  private func store(_ way: Way, days: [Double], now: Double = 5) throws -> Store {
    let store = try lab.open()
    for (index, day) in days.enumerated() {
      lab.turn(toDay: day)
      switch way {
      case .written: try store.note("n\(index)")
      case .imported:
        try store.importTransaction(timestamp: lab.now) { tx in
          _ = try tx.insert("Note", ["id": .string("n\(index)")])
        }
      }
    }
    lab.turn(toDay: now)
    return store
  }

  private func expect(
    _ store: Store, asOf: [Double: Int64], before: [Double: Int64],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for (day, number) in asOf {
      let date = Date(lab.moment(ofDay: day))
      let found = try store.snapshot(at: date).number
      #expect(found == number, "as of day \(day)", sourceLocation: sourceLocation)
      #expect(try store.token(at: date).number == number, sourceLocation: sourceLocation)
      #expect(
        try store.history(after: date).numbers().first ?? 0 == (number == 6 ? 0 : number + 1),
        "after day \(day)", sourceLocation: sourceLocation)
    }
    for (day, number) in before {
      let date = Date(lab.moment(ofDay: day))
      let found = try store.history(before: date).numbers().last ?? 0
      #expect(found == number, "before day \(day)", sourceLocation: sourceLocation)
      #expect(try store.prunePlan(before: date).floor == number + 1, sourceLocation: sourceLocation)
    }
  }

  /// Later transactions were dated just behind the one of 2040, and today's state was that before.
  @Test(arguments: Way.allCases) func aClockThatWasAheadOnce(way: Way) throws {
    let store = try store(way, days: [1, 2, year2040, 3, 4])
    func check() throws {
      try expect(
        store,
        asOf: [
          -1: 0, 0: 1, 0.5: 1, 1: 2, 2: 3, 2.5: 3, 3: 5, 3.5: 5, 4: 6, 5: 6, 10: 6,
          year2040: 6, year2040 + 1: 6,
        ],
        before: [1: 1, 2: 2, 2.5: 3, 3: 3, 4: 5, 4.5: 6, 5: 6, year2040: 6, 90_000: 6])
      let (since, until) = (lab.date(ofDay: 2), lab.date(ofDay: 3))
      #expect(try store.history(where: .since(since)).numbers() == [3, 5, 6])
      #expect(try store.history(where: .until(until)).numbers() == [1, 2, 3, 5])
      #expect(try store.history(where: .since(since) && .until(until)).numbers() == [3, 5])
      #expect(try store.history(where: .since(until) && .until(since)).numbers() == [])
      let far = lab.date(ofDay: 90_000)
      #expect(try store.history(where: .until(far)).numbers() == [1, 2, 3, 5, 6])
      #expect(try store.history(where: .since(far)).numbers() == [])
    }
    try check()
    try store.compact()
    try check()
    let last = try store.transaction(6)
    #expect(Timestamp(last.timestamp) == lab.moment(ofDay: 4))
    #expect(store.version.view.clockJumps == (way == .written ? 1 : 0))
    // Thirty days of retention kept everything.
    try store.setRetention(Retention(days: 2.5))
    #expect(try store.maintenancePlan().wantedFloor == 4)
    try store.setRetention(Retention(days: 1.5))
    #expect(try store.maintain(minimumGain: 0).floor == 6)
    // Its base has the year 2040 for its greatest timestamp.
    #expect(try store.snapshot(at: lab.date(ofDay: 4)).number == 6)
    #expect(try store.snapshot(at: lab.date(ofDay: 3)).number == 5)
    #expect(throws: AnnalsError.self) { try store.snapshot(at: lab.date(ofDay: 2)) }
    try store.note("behind it")
    lab.turn(toDay: 50)
    #expect(try store.maintain(minimumGain: 0).floor == 7)
    try store.verify().forEach { #expect($0.severity == .note, "\($0)") }
  }

  /// While it is ahead, and where nothing came behind it.
  @Test(arguments: Way.allCases) func whatIsDatedLaterThanNowAtTheEnd(way: Way) throws {
    let store = try store(way, days: [1, 2, year2040, year2040 + 1])
    #expect(try store.snapshot(at: lab.date(ofDay: 5)).number == 3)
    #expect(try store.history(before: lab.date(ofDay: year2040 + 9)).numbers() == [1, 2, 3])
    try store.setRetention(Retention(days: 1))
    #expect(try store.maintenancePlan().wantedFloor == 4)
    lab.turn(toDay: year2040)
    #expect(try store.snapshot(at: lab.date(ofDay: year2040)).number == 4)
    #expect(try store.snapshot(at: lab.date(ofDay: year2040 + 1)).number == 4)
    #expect(try store.maintenancePlan().wantedFloor == 4)
  }

  /// Up to a second behind the newest, a transaction is dated just behind it.
  @Test(arguments: [1_000_000, 1_000_001] as [Int64])
  func aSecondBackIsASmallStep(step: Int64) throws {
    let store = try lab.open()
    let newest = lab.now
    lab.wait(microseconds: -step)
    let token = try store.commit { try $0.insert("Note", ["id": "a"]) }.token
    let isSmall = step == 1_000_000
    let expected = isSmall ? Timestamp(microseconds: newest.microseconds + 1) : lab.now
    #expect(try store.transaction(token.number).moment == expected)
    #expect(store.version.view.clockJumps == (isSmall ? 0 : 1))
  }

  @Test func thePlanOfAPruneHasTheEarliestAndTheLatestDate() throws {
    let store = try store(.written, days: [3, -1, 2, 4])
    let plan = try store.prunePlan(before: 5)
    #expect(plan.transactions == 4)
    #expect(plan.oldest == lab.date(ofDay: -1) && plan.newest == lab.date(ofDay: 3))
  }

  /// A device that boots in 1970 writes what is young, however old it looks.
  @Test(arguments: Way.allCases) func aClockThatWasBehindOnce(way: Way) throws {
    let store = try store(way, days: [1, 2, year1970, 3, 4])
    try expect(
      store, asOf: [year1970: 0, 0.5: 1, 1: 2, 2: 4, 2.5: 4, 3: 5, 5: 6, year2040: 6],
      before: [2: 2, 2.5: 4, 3: 4, 5: 6])
    #expect(Timestamp(try store.transaction(4).timestamp) == lab.moment(ofDay: year1970))
    #expect(store.version.view.clockJumps == (way == .written ? 1 : 0))
    try store.setRetention(Retention(days: 2.5))
    #expect(try store.maintenancePlan().wantedFloor == 4)
    // With the clock still behind nothing is old, and nothing else counts.
    lab.turn(toDay: year1970 + 1)
    #expect(try store.snapshot(at: lab.date(ofDay: year1970 + 1)).number == 4)
    #expect(try store.snapshot(at: lab.date(ofDay: 4)).number == 4)
    #expect(try store.maintenancePlan().outcome == .nothingToDrop)
    #expect(try store.prunePlan(before: lab.date(ofDay: year1970)).transactions == 0)
  }

  /// The clock of one machine is set a little all the time.
  @Test func smallStepsBackKeepTheOrder() throws {
    let store = try lab.open(notes: 1)
    let start = lab.now.microseconds
    var times: [Int64] = []
    for seconds in [-0.4, -0.5, -0.1, -0.000_002, 5, -5] {
      lab.wait(seconds: seconds)
      try store.note("n\(seconds) \(times.count)")
      times.append(store.snapshot().moment.microseconds - start)
    }
    // Behind by a second and two microseconds is a larger step, and so is the last.
    #expect(times == [1, 2, -1_000_000, -999_999, 3_999_998, -1_000_002])
    #expect(store.version.view.clockJumps == 2)
    let findings = try store.verify()
    #expect(findings.map(\.severity) == [.note, .note])
    #expect(findings.first?.message.contains("its clock had gone back") == true, "\(findings)")
  }

  /// The greatest timestamp that a transaction may have.
  @Test func behindTheLastMomentOfAll() throws {
    let store = try lab.open(notes: 1)
    let last = Timestamp(microseconds: Timestamp.transactionRange.upperBound.microseconds - 1)
    for moment in [last, Timestamp(microseconds: last.microseconds - 1)] {
      try store.importTransaction(timestamp: moment) { _ in }
      try store.note("\(moment)")
      #expect(store.snapshot().moment == lab.now)
    }
    lab.turn(to: last)
    try store.importTransaction(timestamp: last) { _ in }
    try store.note("at the end of time")
    #expect(store.snapshot().moment >= last)
    #expect(try store.snapshot(at: Date.distantFuture).number == 2)
  }

  /// A lease of thirty days ran until 2040.
  @Test func leasesOfAClockThatWasAhead() throws {
    let store = try lab.open(notes: 3)
    let sync = try store.consumer("sync", blocking: true, lease: .days(30))
    try store.consumer("dead", blocking: true, lease: .days(30)).advance(to: store.token(at: 2))
    lab.turn(toDay: year2040)
    for name in ["sync", "dead", "late"] {
      let it = try store.consumer(name, blocking: true, lease: .days(30))
      try it.advance(to: store.token(at: 3))
    }
    lab.turn(toDay: 1)
    #expect(store.consumers.map(\.isLeaseRunning) == [true, true, true])
    #expect(try sync.status.expiry == lab.date(ofDay: 30))
    lab.turn(toDay: 20)
    try sync.advance(to: store.token(at: 3))
    try store.note("later")
    #expect(try sync.status.lastSeen == lab.date(ofDay: 20))
    lab.turn(toDay: 31)
    #expect(store.consumers.map(\.isLeaseRunning) == [false, false, true])
    #expect(try store.prunePlan(before: Int64(5)).blockers.map(\.name) == ["sync"])
    try store.close()
    let again = try lab.open()
    #expect(try again.prunePlan(before: Int64(5)).blockers.map(\.name) == ["sync"])
  }

  /// One that was seen while the clock was behind has read what was made before that.
  @Test func leasesOfAClockThatWasBehind() throws {
    let store = try lab.open(notes: 3)
    let sync = try store.consumer("sync", blocking: true, lease: .days(30))
    lab.turn(toDay: 100)
    try store.note("new")
    lab.turn(toDay: year1970)
    try sync.advance(to: store.token)
    #expect(try sync.status.isLeaseRunning)
    try store.note("in 1970")
    lab.turn(toDay: 110)
    #expect(try sync.status.isLeaseRunning)
    #expect(try sync.status.expiry == lab.date(ofDay: 130))
    lab.turn(toDay: 131)
    #expect(try !sync.status.isLeaseRunning)
    _ = try store.consumer("sync")
    #expect(try sync.status.isLeaseRunning)
  }

  /// Dates against counting, in a log of many segments, with blocks and a pruned base.
  @Test(arguments: 0..<6 as Range<UInt64>) func againstCounting(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let store = try lab.open()
    var times = [lab.now.microseconds]
    let start = lab.now.microseconds
    let text = String(repeating: "long ", count: 300)
    for number in 0..<250 {
      var moment = start + Int64(number) * 10
      if random.chance(6) { moment += Int64(random.below(6_000)) - 3_000 }
      try store.importTransaction(timestamp: Timestamp(microseconds: moment)) { tx in
        _ = try tx.insert("Note", ["id": .string("\(number)"), "text": .string(text)])
      }
      times.append(moment)
    }
    let base = seed < 2 ? 0 : 1 + Int64(random.below(200))
    if seed % 2 == 1 { try store.compact() }
    if base > 0 { try store.prune(store.prunePlan(before: base + 1)) }
    let view = store.version.view
    for _ in 0..<400 {
      let now = start + Int64(random.below(4_000)) - 500
      let date = start + Int64(random.below(4_000)) - 500
      func expected(_ isLate: (Int64) -> Bool) -> Int64 {
        let late = times.firstIndex { $0 <= now && isLate($0) } ?? times.count
        return Int64((times[..<late].lastIndex { $0 <= now } ?? -1) + 1)
      }
      let (asOf, before) = (expected { $0 > date }, expected { $0 >= date })
      let (moment, present) = (Timestamp(microseconds: date), Timestamp(microseconds: now))
      let greatest = times.prefix(Int(base)).max() ?? 0
      // What a base's own timestamps hid is known to be at or before it only.
      guard base == 0 || greatest <= now else { continue }
      let comment: Comment = "seed \(seed), as of \(date - start), now \(now - start)"
      #expect(try view.number(asOf: moment, now: present) == max(asOf, base), comment)
      #expect(try view.number(before: moment, now: present) == max(before, base), comment)
    }
  }
}

extension ConsumerLab {
  func moment(ofDay day: Double) -> Timestamp {
    Timestamp(microseconds: 1_700_000_000_000_000 + Int64(day * 86_400_000_000))
  }
  func date(ofDay day: Double) -> Date { Date(moment(ofDay: day)) }

  func turn(to moment: Timestamp) {
    wait(microseconds: moment.microseconds - now.microseconds)
  }
  func turn(toDay day: Double) { turn(to: moment(ofDay: day)) }
}
