import Annals
import AnnalsModel
import AnnalsStorage
import SystemPackage
import Testing

/// Disks that fail.
@Suite struct FailureTests {
  private func location(_ disk: FaultyFileSystem) -> StoreLocation {
    StoreLocation(fileSystem: disk, path: "/a.annals")
  }

  @Test(arguments: [StorageError.Operation.write, .sync])
  func afterAFailedWriteOrSyncNothingMoreIsWritten(operation: StorageError.Operation) throws {
    let disk = FaultyFileSystem()
    let store = try noteStore(location(disk))
    try store.note("a")
    disk.inject(FaultInjection(operation, .ioError, count: 1))
    let error = #expect(throws: AnnalsError.self) { try store.note("b") }
    #expect(error?.code == .outcomeUnknown)
    #expect(error?.underlying == .ioError)
    #expect(try store.ids() == ["a"])
    for call in [
      { _ = try store.note("c") }, { try store.checkpoint() }, { try store.sync() },
    ] as [() throws -> Void] {
      let code = #expect(throws: AnnalsError.self, performing: call)?.code
      #expect(code == .poisoned || code == .outcomeUnknown)
    }
    // Another opening goes on at once: the lock is free.
    let other = try noteStore(location(disk), seed: 2)
    #expect(try other.ids() == ["a"])
    try other.note("d")
    try store.close()
    #expect(try Store(location(disk), creates: false).ids() == ["a", "d"])
  }

  @Test func aFullDiskLeavesNothing() throws {
    let disk = FaultyFileSystem()
    let store = try noteStore(location(disk))
    try store.note("a")
    let head = store.token
    disk.capacity = 100_000
    let large = String(repeating: "x", count: 300_000)
    for id in ["b", "c"] {
      let error = #expect(throws: AnnalsError.self) { try store.note(id, text: large) }
      #expect(error?.code == .noSpace)
      #expect(error?.underlying == .noSpace)
    }
    var random = SeededGenerator(seed: 1)
    let many = #expect(throws: AnnalsError.self) {
      try store.write { tx in
        for _ in 0..<20_000 { try tx.insert("Note", ["id": .string("\(random.next())")]) }
      }
    }
    #expect(many?.code == .noSpace)
    #expect(store.token == head)
    try store.note("d")
    disk.capacity = .max
    try store.note("e", text: large)
    #expect(try store.ids() == ["a", "d", "e"])
    #expect(try store.verify() == [])
    try store.close()
    let again = try Store(location(disk), creates: false)
    #expect(try again.ids() == ["a", "d", "e"])
    #expect(try again.verify() == [])
  }

  @Test func powerMayFailAtAnyPoint() throws {
    func work(_ disk: FaultyFileSystem) throws -> [String] {
      var acknowledged: [String] = []
      do {
        let store = try noteStore(location(disk))
        for id in ["a", "b", "c"] {
          try store.note(id, text: id == "b" ? String(repeating: "x", count: 9_000) : nil)
          acknowledged.append(id)
          if id == "b" { try store.checkpoint() }
        }
        try store.close()
      } catch let error as AnnalsError {
        guard error.underlying == .operationNotSupportedByDevice || error.code == .poisoned else {
          throw error
        }
      }
      return acknowledged
    }
    let count = FaultyFileSystem()
    #expect(try work(count) == ["a", "b", "c"])
    for point in 0..<count.pointCount {
      let disk = FaultyFileSystem(seed: UInt64(point))
      disk.crash(at: point)
      let acknowledged = try work(disk)
      disk.forEachSurvivor(limit: 12) { survivor in
        check(survivor, acknowledged, "point \(point) \(count.points[point])")
      }
    }
  }

  /// After a power cut the store opens, holds all that was acknowledged and at most one more, and
  /// goes on.
  private func check(_ survivor: Survivor, _ acknowledged: [String], _ place: String) {
    let place = "\(place), \(survivor)"
    do {
      let again = try noteStore(location(survivor.files), seed: 5)
      let ids = try again.ids().map { "\($0.keyText ?? "")" }
      #expect(
        ids.starts(with: acknowledged) && ids.count <= acknowledged.count + 1, "\(place): \(ids)")
      try again.note("z")
      #expect(try again.verify() == [], "\(place)")
      if ids.contains("b") { #expect(try again.texts()[1].byteCount == 9_000, "\(place)") }
    } catch {
      Issue.record("\(place): \(error)")
    }
  }
}
