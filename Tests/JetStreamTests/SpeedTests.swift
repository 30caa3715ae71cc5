#if JetStream

import AnnalsReplication
import Foundation
import Testing

@testable import AnnalsJetStream

/// Figures, printed; a large object and many records besides. Only where ANNALS_MEASURE is set, but
/// for the object.
@Suite(.serialized, .timeLimit(.minutes(5)), needsServer) struct SpeedTests {
  static let measures = ProcessInfo.processInfo.environment["ANNALS_MEASURE"] != nil

  /// 100 MB in pieces come back as they were.
  @Test func largeObject() async throws {
    let server = try NATSServer()
    try await server.start()
    let log = try await JetStreamLog.connect(server.options())
    let length = 100_000_000
    let pieceLength = log.longestPiece
    let count = (length + pieceLength - 1) / pieceLength
    func piece(_ index: Int) -> [UInt8] {
      let size = min(pieceLength, length - index * pieceLength)
      return [UInt8](unsafeUninitializedCapacity: size) { buffer, used in
        for place in 0..<size { buffer[place] = UInt8(truncatingIfNeeded: place &* 7 &+ index) }
        used = size
      }
    }
    let object = SharedObject(
      name: "snapshots/large", length: UInt64(length), pieceLength: pieceLength,
      digest: Digest(of: []))
    #expect(object.pieceCount == count)
    let writing = try await ContinuousClock().measure {
      for index in 0..<count { try await log.put(piece(index), at: index, of: object.name) }
      try await log.complete(object)
    }
    let reading = try await ContinuousClock().measure {
      var index = 0
      while index < count {
        for read in try await log.pieces(index..<min(index + 8, count), of: object) {
          #expect(read == piece(index), "piece \(index)")
          index += 1
        }
      }
    }
    print("100 MB in \(count) pieces: written in \(writing), read in \(reading)")
    try await log.remove(object: object.name)
    #expect(try await log.objects(beginning: "").isEmpty)
    log.close()
  }

  @Test(.enabled(if: measures), arguments: [1, 3])
  func appends(_ servers: Int) async throws {
    let (options, keep) = try await options(servers)
    for appenders in [1, 8, 64] {
      // Up to eight streams, as many stores have; and one, where all but one are too late each
      // time.
      try await appends(servers, appenders, options, isShared: false)
      try await appends(servers, appenders, options, isShared: true)
    }
    withExtendedLifetime(keep) {}
  }

  private func options(_ servers: Int) async throws -> (JetStreamOptions, Any) {
    if servers == 1 {
      let server = try NATSServer()
      try await server.start()
      return (server.options(), server)
    }
    let cluster = try await NATSCluster()
    return (cluster.options(), cluster)
  }

  /// Appends for a while. On one stream, appenders that were too late try again after the newest.
  private func appends(
    _ servers: Int, _ appenders: Int, _ base: JetStreamOptions, isShared: Bool
  ) async throws {
    if appenders == 1, isShared { return }
    var logs: [JetStreamLog] = []
    for number in 0..<(isShared ? 1 : min(appenders, 8)) {
      var options = base
      options.stream = "speed\(appenders)x\(number)\(isShared)"
      logs.append(try await JetStreamLog.connect(options))
    }
    let end = ContinuousClock.now + .seconds(4)
    let times = await withTaskGroup(of: [Duration].self) { group in
      for number in 0..<appenders {
        let log = logs[number % logs.count]
        group.addTask {
          var last = SharedLogEnd.beginning
          var times: [Duration] = []
          var count = 0
          while .now < end {
            count += 1
            let record = SharedRecord(
              id: "r\(number)x\(count)", bytes: [UInt8](repeating: 1, count: 300))
            let start = ContinuousClock.now
            while .now < end {
              do throws(SharedLogError) {
                let sequence = try await log.append(record, after: last)
                last = SharedLogEnd(sequence: sequence, id: record.id)
                times.append(.now - start)
                break
              } catch {
                guard case .behind(let newest) = error,
                  let found = try? await log.records(from: newest, limit: 1).records.first
                else { continue }
                last = SharedLogEnd(sequence: found.sequence, id: found.record.id)
              }
            }
          }
          return times
        }
      }
      return await group.reduce(into: []) { $0 += $1 }.sorted()
    }
    func at(_ part: Double) -> String {
      guard !times.isEmpty else { return "-" }
      let time = times[min(times.count - 1, Int(Double(times.count) * part))].nanoseconds
      return "\(Double(time / 10_000) / 100) ms"
    }
    print(
      "\(servers) server(s), \(appenders) appender(s) on \(logs.count) stream(s): "
        + "\(times.count / 4) appends/s, p50 \(at(0.5)), p99 \(at(0.99))")
    for log in logs { log.close() }
  }

  @Test(.enabled(if: measures), arguments: [1, 3])
  func reading(_ servers: Int) async throws {
    let (options, keep) = try await options(servers)
    for (count, length) in [(100_000, 300), (20_000, 1_024)] {
      var options = options
      options.stream = "read\(length)"
      let log = try await JetStreamLog.connect(options)
      let writing = try await ContinuousClock().measure { try await publish(log, count, length) }
      print("\(servers) server(s): \(count) records of \(length) bytes written in \(writing)")
      for limit in [1_000, 10_000, 16] {
        var read = 0
        var next: UInt64 = 1
        let most = limit == 16 ? 5_000 : count
        let time = try await ContinuousClock().measure {
          while read < most {
            let page = try await log.records(from: next, limit: limit)
            guard let last = page.records.last?.sequence else { break }
            #expect(page.records.first?.sequence == next)
            read += page.records.count
            next = last + 1
          }
        }
        #expect(read == most || limit == 16 && read >= most)
        let seconds = Double(time.components.attoseconds) / 1e18 + Double(time.components.seconds)
        print(
          "\(servers) server(s): \(length) bytes, pages of \(limit): "
            + "\(Int(Double(read) / seconds)) records/s")
      }
      log.close()
    }
    withExtendedLifetime(keep) {}
  }

  /// Publishes without waiting for the acknowledgement of the one before.
  private func publish(_ log: JetStreamLog, _ count: Int, _ length: Int) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<count {
        if number >= 256 { try await group.next() }
        group.addTask {
          let record = SharedLogContract.record(number, length)
          _ = try await log.connection.ask(
            log.names.recordSubject, record.bytes, headers: [(key: "Nats-Msg-Id", value: record.id)]
          )
        }
      }
      try await group.waitForAll()
    }
  }
}

#endif
