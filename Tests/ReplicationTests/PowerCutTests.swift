import Annals
import AnnalsFaults
import AnnalsReplication
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// The power fails at every point at which a replica's disk changes something: before, between and
/// after what the log has acknowledged. With what the disk kept, the replica is what the log says.
@Suite struct PowerCutTests {
  private static let path = "/replica.annals"

  private func open(_ files: FaultyFileSystem, _ log: InMemorySharedLog) async throws -> Replica {
    try await Replica.open(
      StoreLocation(fileSystem: files, path: Self.path), records: Folder.self, Note.self, log: log,
      options: ReplicaWorld.options, environment: .fixed(seed: 3))
  }

  /// Works until the power fails. Returns how many notes were acknowledged to be there.
  private func work(_ files: FaultyFileSystem, _ log: InMemorySharedLog) async -> Int {
    var count = 0
    do {
      let replica = try await open(files, log)
      let other = try await Replica.open(
        .memory, records: Folder.self, Note.self, log: log, options: ReplicaWorld.options,
        environment: .fixed(seed: 4))
      var notes: [ObjectID] = []
      for index in 0..<4 {
        let length = index == 1 ? 9_000 : 10
        try await other.write { tx in _ = try tx.insert(Folder(name: "folder \(index)")) }
        notes.append(
          try await replica.write { tx in
            try tx.insert(
              Note(title: "note \(index)", image: Data(repeating: UInt8(index), count: length)))
          }.objectID)
        count += 1
      }
      count -= 1
      try await replica.erase([notes[0]], reason: "asked")
      try await replica.close()
    } catch {
      return count
    }
    return count
  }

  @Test func theReplicaIsWhatTheLogSays() async throws {
    let whole = FaultyFileSystem()
    #expect(await work(whole, InMemorySharedLog()) == 3)
    let points = whole.pointCount
    #expect(points > 40)
    var states = 0
    for point in stride(from: 0, to: points, by: isLong ? 1 : 2) {
      let files = FaultyFileSystem(seed: UInt64(point))
      let log = InMemorySharedLog()
      files.crash(at: point)
      let acknowledged = await work(files, log)
      #expect(files.hasCrashed)
      var survivors: [Survivor] = []
      files.forEachSurvivor(limit: isLong ? 8 : 2) { survivors.append($0) }
      let fresh = try await Replica.open(
        .memory, records: Folder.self, Note.self, log: log, options: ReplicaWorld.options,
        environment: .fixed(seed: 5))
      for survivor in survivors {
        states += 1
        let replica = try await open(survivor.files, log)
        try await fresh.catchUp()
        try expectEqualStores(
          [replica.store, fresh.store], "\(survivor.description)", afterPowerCut: true)
        let count = try replica.store.snapshot().count(of: Note.self)
        #expect(count >= acknowledged, "\(survivor.description)")
        try await replica.close()
      }
    }
    print("\(points) points, \(states) states of the disk")
  }
}
