import AnnalsFaults
import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import AnnalsLog

/// Files beside a store: those that a dead maker left are removed, anybody else's never.
@Suite struct LeftoverTests {
  private let new = LogLab.path + ".new"

  private func lab(_ files: any FileSystem = MemoryFileSystem()) throws -> LogLab {
    let lab = try LogLab(files)
    for number in 1...30 { try lab.commit([(Int64(number), "title \(number)")]) }
    return lab
  }

  /// A commit of another opening, and a rewrite; what each leaves of the file beside.
  private func expectKept(_ lab: LogLab, _ bytes: Bytes, _ reason: String) throws {
    let files = lab.files
    try files.put(bytes, at: new)
    let next = try LogLab(files, creates: false, opening: 8)
    try next.commit([(1, "goes on")])
    #expect(try files.contents(of: new) == bytes, "\(reason)")
    for destination in [RewritePlan.Destination.replace, .new(path: "/copy")] {
      if case .new = destination { try files.put(bytes, at: "/copy.new") }
      let before = try files.contents(of: LogLab.path)
      let error = #expect(throws: LogError.self) {
        try next.rewrite(RewritePlan(base: .keep, checkpoint: true, destination: destination))
      }
      guard case .occupied(let path, let why)? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(path.hasSuffix(".new") && why.contains(reason), "\(why)")
      #expect(try files.contents(of: path) == bytes)
      #expect(try files.contents(of: LogLab.path) == before)
    }
    #expect(try files.identity(of: "/copy") == nil)
    try files.remove("/copy.new")
    try files.remove(new)
    try next.commit([(2, "and on")])
    try next.log.close()
  }

  @Test func aTextIsLeftAlone() throws {
    let notes = Bytes("My notes of yesterday\n".utf8)
    for bytes in [notes, [1, 2, 3], [0], Bytes(repeating: 0, count: 5_000), notes + notes] {
      if bytes == [0] { continue }
      try expectKept(lab(), bytes, "it is no unfinished file")
    }
    // As long as the stamp, and none of its lines a whole sector.
    let line = Array("Annals: this file is unfinished\n".utf8)
    let quote = Array(repeating: line, count: 15).flatMap { $0 } + [UInt8](repeating: 65, count: 99)
    try expectKept(lab(), Bytes(quote), "it is no unfinished file")
  }

  @Test func aStoreIsLeftAlone() throws {
    let other = MemoryFileSystem()
    _ = try lab(other)
    let whole = try other.contents(of: LogLab.path)
    // The same store and generation, as a copy of it is.
    try expectKept(lab(), whole, "it is a whole store")
    // A later generation of the store, with a commit that the store does not have.
    let ahead = try lab(other)
    _ = try ahead.rewrite(RewritePlan(base: .keep, checkpoint: true, destination: .replace))
    try ahead.commit([(1, "more"), (2, "than there")])
    for number in 1...40 { try ahead.commit([(1, "\(number)")]) }
    try ahead.log.close()
    try expectKept(lab(), other.contents(of: LogLab.path), "it is a whole store")
  }

  @Test func nobodysFilesAreRemoved() throws {
    let stamp = Bytes(UnfinishedStamp.block)
    var torn = stamp
    torn.replaceSubrange(0..<512, with: (0..<512).map { UInt8(truncatingIfNeeded: $0 &* 77) })
    for bytes in [
      [], [0], Bytes(repeating: 0, count: 4096), stamp, torn, Bytes(stamp[..<7]),
      Bytes(stamp[..<512]), stamp + [1, 2, 3],
    ] as [Bytes] {
      let lab = try lab()
      try lab.files.put(bytes, at: new)
      let next = try LogLab(lab.files, creates: false, opening: 8)
      try next.commit([(1, "two")])
      #expect(try lab.files.identity(of: new) == nil, "\(bytes.count) bytes")
      try lab.files.put(bytes, at: new)
      _ = try next.rewrite(RewritePlan(base: .keep, checkpoint: true, destination: .replace))
      #expect(try lab.files.identity(of: new) == nil, "\(bytes.count) bytes")
      // And by whoever makes a store.
      try lab.files.put(bytes, at: "/other.new")
      #expect(
        try LogFile.create(
          at: "/other", in: lab.files,
          NewLog(store: LogLab.uuid, created: Timestamp(microseconds: 1))))
      #expect(try lab.files.identity(of: "/other.new") == nil)
    }
  }

  /// A further name of the store is only a name.
  @Test func aSecondNameGoes() throws {
    let lab = try lab()
    try lab.files.link(LogLab.path, to: new)
    let next = try LogLab(lab.files, creates: false, opening: 8)
    try next.commit([(1, "two")])
    #expect(try lab.files.identity(of: new) == nil)
    #expect(next.state.titles[1] == "two")
  }

  /// What is at the place of the header, each time that the file is synced: the stamp from the
  /// first sync on, the header from the last; never anything else.
  @Test func theStampIsSyncedFirstAndTheHeaderLast() throws {
    let trial = FaultyFileSystem()
    let source = try lab(trial)
    let first = trial.pointCount
    _ = try source.rewrite(RewritePlan(base: .keep, checkpoint: true, destination: .replace))
    let points = trial.points[first...].filter { "\($0)".contains(".new") }
    let calls = points.map { "\($0)" }
    let syncs = calls.indices.filter { calls[$0].contains("sync") }
    let writes = calls.indices.filter { calls[$0].contains("write") }
    #expect(syncs.count >= 3, "\(calls)")
    let second = try #require(writes.dropFirst().first)
    #expect(try #require(syncs.first) < second, "\(calls)")
    // The header is the last write, between two syncs.
    let last = try #require(writes.last)
    #expect(syncs.contains { $0 > last } && syncs.contains { $0 == last - 1 }, "\(calls)")
    let made = try trial.contents(of: LogLab.path)
    #expect(
      !made.withUnsafeBytes { UnfinishedStamp.marks($0, size: UInt64(made.count)) })
  }
}

extension RewritePlan.Destination {
  fileprivate static func new(path: String) -> Self {
    .new(path: path, store: LogLab.uuid, created: Timestamp(microseconds: 1))
  }
}
