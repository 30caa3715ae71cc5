#if JetStream

import AnnalsReplication
import Testing

/// What every shared log promises, as tests: each is given an empty log.
enum SharedLogContract {
  typealias Check = @Sendable (any SharedLog) async throws -> Void

  static let all: [(name: String, check: Check)] = [
    ("an empty log", empty), ("sequences", sequences), ("another end", otherEnd),
    ("sent again", sentAgain), ("pages", pages), ("pages of long records", longPages),
    ("growth", growth), ("trimming", trimming),
    ("trimming it all", trimmingAll), ("the longest record", longest), ("objects", objects),
    ("pieces", pieces), ("appenders", appenders), ("together", together),
    ("appenders of many", appendersOfMany),
  ]

  static func record(_ number: Int, _ length: Int = 100) -> SharedRecord {
    // Long ones quickly.
    if length > 10_000 {
      let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: length)
      return SharedRecord(id: "record\(number)", bytes: bytes)
    }
    return SharedRecord(
      id: "record\(number)",
      bytes: (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) })
  }

  /// Appends records, each after the one before.
  @discardableResult
  static func fill(
    _ log: any SharedLog, _ numbers: ClosedRange<Int>, after end: SharedLogEnd = .beginning,
    length: Int = 100
  ) async throws -> SharedLogEnd {
    var end = end
    for number in numbers {
      let record = record(number, length)
      end = SharedLogEnd(sequence: try await log.append(record, after: end), id: record.id)
    }
    return end
  }

  static func empty(_ log: any SharedLog) async throws {
    let page = try await log.records(from: 1, limit: 10)
    #expect(page.records.isEmpty)
    #expect(page.first == 1 && page.last == 0)
    #expect(try await log.objects(beginning: "").isEmpty)
    #expect(log.longestRecord > 1_000 && log.longestPiece > 1_000)
  }

  static func sequences(_ log: any SharedLog) async throws {
    #expect(try await log.append(record(1), after: .beginning) == 1)
    #expect(try await log.append(record(2), after: SharedLogEnd(sequence: 1, id: "record1")) == 2)
    // No bytes are bytes, too.
    let last = SharedLogEnd(sequence: 2, id: "record2")
    #expect(try await log.append(SharedRecord(id: "nothing", bytes: []), after: last) == 3)
    let page = try await log.records(from: 1, limit: 10)
    #expect(page.first == 1 && page.last == 3)
    #expect(sorted(page).map(\.sequence) == [1, 2, 3])
    #expect(
      sorted(page).map(\.record) == [record(1), record(2), SharedRecord(id: "nothing", bytes: [])])
  }

  static func otherEnd(_ log: any SharedLog) async throws {
    let end = try await fill(log, 1...3)
    await #expect(throws: SharedLogError.behind(last: 3)) {
      try await log.append(record(4), after: .beginning)
    }
    await #expect(throws: SharedLogError.behind(last: 3)) {
      try await log.append(record(4), after: SharedLogEnd(sequence: 2, id: "record2"))
    }
    await #expect(throws: SharedLogError.behind(last: 3)) {
      try await log.append(record(4), after: SharedLogEnd(sequence: 4, id: "record4"))
    }
    // The right sequence, and another record: a log that was restored and went on.
    await #expect(throws: SharedLogError.behind(last: 3)) {
      try await log.append(record(4), after: SharedLogEnd(sequence: 3, id: "recordX"))
    }
    #expect(try await log.append(record(4), after: end) == 4)
  }

  static func sentAgain(_ log: any SharedLog) async throws {
    try await fill(log, 1...2)
    #expect(try await log.append(record(2), after: SharedLogEnd(sequence: 1, id: "record1")) == 2)
    #expect(try await log.append(record(1), after: .beginning) == 1)
    #expect(try await log.append(record(1), after: SharedLogEnd(sequence: 2, id: "record2")) == 1)
    #expect(try await log.records(from: 1, limit: 9).last == 2)
  }

  static func pages(_ log: any SharedLog) async throws {
    try await fill(log, 1...120)
    for (start, limit) in [
      (1, 1), (1, 10), (5, 16), (5, 17), (1, 50), (51, 50), (101, 50), (90, 500),
    ] {
      let page = try await log.records(from: UInt64(start), limit: limit)
      let numbers = Array(start...min(120, start + limit - 1))
      #expect(page.first == 1 && page.last == 120)
      #expect(sorted(page).map(\.sequence) == numbers.map { UInt64($0) }, "from \(start), \(limit)")
      #expect(sorted(page).map(\.record) == numbers.map { record($0) })
    }
    #expect(try await log.records(from: 121, limit: 10).records.isEmpty)
    #expect(try await log.records(from: 1, limit: .max).records.count == 120)
    #expect(try await log.records(from: 0, limit: 2).records.map(\.sequence).sorted() == [1, 2])
  }

  static func longPages(_ log: any SharedLog) async throws {
    try await fill(log, 1...40, length: log.longestRecord)
    var next: UInt64 = 1
    while next <= 40 {
      let page = sorted(try await log.records(from: next, limit: 1_000))
      try #require(!page.isEmpty)
      for (sequence, found) in page {
        #expect(sequence == next)
        #expect(found == record(Int(sequence), log.longestRecord))
        next += 1
      }
    }
  }

  static func growth(_ log: any SharedLog) async throws {
    var end = try await fill(log, 1...3)
    var seen = log.growth(after: 0).makeAsyncIterator()
    #expect(await seen.next() == 3)
    // Who knows all is told of what comes.
    let task = Task {
      for await last in log.growth(after: 3) where last >= 5 { return last }
      return 0
    }
    try await Task.sleep(for: .milliseconds(50))
    end = try await fill(log, 4...5, after: end)
    #expect(await task.value == 5)
    // It ends with the task that reads it.
    let endless = Task {
      for await _ in log.growth(after: 5) {}
      return true
    }
    try await Task.sleep(for: .milliseconds(20))
    endless.cancel()
    #expect(await endless.value)
  }

  static func trimming(_ log: any SharedLog) async throws {
    let end = try await fill(log, 1...50)
    try await log.trim(before: 1)
    try await log.trim(before: 31)
    try await log.trim(before: 5)
    var page = try await log.records(from: 1, limit: 100)
    #expect(page.first == 31 && page.last == 50)
    #expect(sorted(page).map(\.sequence) == (31...50).map { UInt64($0) })
    #expect(sorted(page).first?.record == record(31))
    #expect(try await log.append(record(51), after: end) == 51)
    page = try await log.records(from: 51, limit: 100)
    #expect(page.records.map(\.record) == [record(51)])
  }

  static func trimmingAll(_ log: any SharedLog) async throws {
    let end = try await fill(log, 1...5)
    // Beyond the end is to the end.
    try await log.trim(before: 100)
    var page = try await log.records(from: 1, limit: 100)
    #expect(page.records.isEmpty && page.first == 6 && page.last == 5)
    await #expect(throws: SharedLogError.behind(last: 5)) {
      try await log.append(record(9), after: SharedLogEnd(sequence: 99, id: "x"))
    }
    #expect(try await log.append(record(6), after: end) == 6)
    page = try await log.records(from: 1, limit: 100)
    #expect(page.first == 6 && page.records.map(\.record) == [record(6)])
  }

  static func longest(_ log: any SharedLog) async throws {
    let record = record(1, log.longestRecord)
    #expect(try await log.append(record, after: .beginning) == 1)
    #expect(try await log.records(from: 1, limit: 1).records.map(\.record) == [record])
    let last = SharedLogEnd(sequence: 1, id: record.id)
    await #expect(throws: SharedLogError.tooLong(limit: log.longestRecord)) {
      try await log.append(SharedLogContract.record(2, log.longestRecord + 1), after: last)
    }
    await #expect(throws: SharedLogError.tooLong(limit: log.longestPiece)) {
      try await log.put([UInt8](repeating: 0, count: log.longestPiece + 1), at: 0, of: "long")
    }
    let piece = [UInt8](repeating: 7, count: log.longestPiece)
    let object = SharedObject(
      name: "long", length: UInt64(piece.count), pieceLength: piece.count,
      digest: Digest(of: piece))
    try await log.put(piece, at: 0, of: "long")
    try await log.complete(object)
    #expect(try await log.pieces(0..<1, of: object) == [piece])
  }

  static func objects(_ log: any SharedLog) async throws {
    let names = ["snapshots/12", "snapshots/2", "transactions/ab-c", "other"]
    var made: [SharedObject] = []
    for name in names {
      let bytes = Array(name.utf8)
      try await log.put(bytes, at: 0, of: name)
      let object = SharedObject(
        name: name, length: UInt64(bytes.count), pieceLength: 64, digest: Digest(of: bytes),
        details: [0, 255, 10, 34])
      made.append(object)
      // Nobody sees what is not complete.
      #expect(try await !log.objects(beginning: "").contains { $0.name == name })
      await #expect(throws: SharedLogError.self) { try await log.pieces(0..<1, of: object) }
      try await log.complete(object)
    }
    made.sort { $0.name < $1.name }
    #expect(try await log.objects(beginning: "") == made)
    #expect(
      try await log.objects(beginning: "snap").map(\.name) == ["snapshots/12", "snapshots/2"])
    #expect(try await log.objects(beginning: "snapshots/12").map(\.name) == ["snapshots/12"])
    #expect(try await log.objects(beginning: "none").isEmpty)
    try await log.remove(object: "snapshots/12")
    try await log.remove(object: "nothing")
    #expect(try await log.objects(beginning: "snap").map(\.name) == ["snapshots/2"])
    let gone = try #require(made.first { $0.name == "snapshots/12" })
    await #expect(throws: SharedLogError.missing("piece 0 of snapshots/12")) {
      try await log.pieces(0..<1, of: gone)
    }
    // Records are none of its business.
    #expect(try await log.records(from: 1, limit: 1).last == 0)
  }

  static func pieces(_ log: any SharedLog) async throws {
    let bytes = record(5, 10_000).bytes
    var object = SharedObject(
      name: "some/thing", length: 10_000, pieceLength: 999, digest: Digest(of: bytes))
    #expect(object.pieceCount == 11)
    // In any order, one of them twice.
    for index in [3, 0, 1, 2, 4, 10, 9, 8, 7, 6, 5, 3] {
      let piece = Array(bytes[index * 999..<min(10_000, index * 999 + 999)])
      try await log.put(piece, at: index, of: object.name)
    }
    try await log.put([1, 2, 3], at: 0, of: "some/thin")
    try await log.complete(object)
    for most in [1, 2, 3, 4, 5, 11, 20] {
      var read: [[UInt8]] = []
      while read.count < object.pieceCount {
        read += try await log.pieces(
          read.count..<min(read.count + most, object.pieceCount), of: object)
      }
      #expect(Array(read.joined()) == bytes, "\(most) at once")
    }
    // From anywhere, and beyond the end.
    #expect(try await log.pieces(6..<9, of: object).first == Array(bytes[5_994..<6_993]))
    #expect(try await log.pieces(10..<40, of: object) == [Array(bytes[9_990...])])
    await #expect(throws: SharedLogError.missing("piece 11 of some/thing")) {
      try await log.pieces(11..<40, of: object)
    }
    let old = object
    object.length = 3
    try await log.put([4, 5, 6], at: 0, of: object.name)
    try await log.complete(object)
    #expect(try await log.pieces(0..<1, of: object) == [[4, 5, 6]])
    await #expect(throws: SharedLogError.self) { try await log.pieces(0..<9, of: old) }
    #expect(try await log.objects(beginning: "some") == [object])
  }

  /// Eight tasks append; each finds its own records once, and no record is lost or doubled.
  static func appenders(_ log: any SharedLog) async throws {
    let tasks = 8
    let each = 25
    try await withThrowingTaskGroup(of: [UInt64].self) { group in
      for task in 0..<tasks {
        group.addTask {
          var end = SharedLogEnd.beginning
          var own: [UInt64] = []
          for number in 0..<each {
            let record = record(task * 1_000 + number)
            while true {
              do throws(SharedLogError) {
                let sequence = try await log.append(record, after: end)
                own.append(sequence)
                end = SharedLogEnd(sequence: sequence, id: record.id)
                break
              } catch {
                guard case .behind(let last) = error else { throw error }
                let page = try await log.records(from: last, limit: 1)
                guard let newest = page.records.first else { continue }
                end = SharedLogEnd(sequence: newest.sequence, id: newest.record.id)
              }
            }
          }
          return own
        }
      }
      var all: [UInt64] = []
      for try await own in group {
        #expect(own == own.sorted())
        all += own
      }
      #expect(all.sorted() == (1...UInt64(tasks * each)).map { $0 })
    }
    let page = try await log.records(from: 1, limit: .max)
    #expect(Set(page.records.map(\.record.id)).count == tasks * each)
    #expect(page.records.count == tasks * each)
  }

  static func sorted(_ page: SharedLogPage) -> [(sequence: UInt64, record: SharedRecord)] {
    page.records.sorted { $0.sequence < $1.sequence }
  }
}

#endif
