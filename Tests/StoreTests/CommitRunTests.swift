import Annals
import AnnalsFaults
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import SystemPackage
import Testing

/// Durable commits that follow each other: the version that readers see moves on in place.
@Suite(.deadline) struct CommitRunTests {
  @Test func snapshotsStayAsTheyWereWhileCommitsGoOn() throws {
    let store = try noteStore()
    var held: [(snapshot: Snapshot, count: Int)] = []
    for number in 1...40 {
      let id = try store.note("\(number)", text: "as made")
      if number > 1 { try store.write { try $0.update(id, ["text": "changed"]) } }
      // Every third is held, the others move on.
      if number % 3 == 0 { held.append((store.snapshot(), number)) }
    }
    for (snapshot, count) in held {
      #expect(try snapshot.objects(of: "Note").count == count)
      #expect(try snapshot.objects(of: "Note").last?["id"] == .string("\(count)"))
    }
    #expect(try store.verifyHistory() == [])
  }

  @Test func whoWritesDuringAnothersSyncStandsOnItsCommit() throws {
    let disk = FaultyFileSystem()
    let store = try exclusiveStore(on: disk)
    let first = try store.note("first", text: "old")
    let done = DispatchSemaphore(value: 0)
    disk.duringNextSync {
      let inside = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        do {
          try store.write { tx in
            #expect(try tx.object(first)?["text"] == "new")
            try tx.update(first, ["count": .int(2)])
            inside.signal()
          }
        } catch {
          Issue.record(error)
          inside.signal()
        }
        done.signal()
      }
      inside.waitUnlessCancelled()
      // Nobody sees what is not synced.
      #expect((try? store.texts()) == ["old"])
    }
    try store.write { try $0.update(first, ["text": "new"]) }
    #expect(try store.texts() == ["new"])
    done.waitUnlessCancelled()
    #expect(try store.snapshot().object(first)?["count"] == .int(2))
    #expect(try store.verifyHistory() == [])
  }

  @Test func aSyncThatFailsTakesBothWhoWaitForItAndShowsNeither() throws {
    let disk = FaultyFileSystem()
    let store = try exclusiveStore(on: disk)
    try store.note("a")
    try store.note("b")
    let done = DispatchSemaphore(value: 0)
    disk.inject(FaultInjection(.sync, .ioError, count: 1))
    disk.duringNextSync {
      let inside = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        let error = #expect(throws: AnnalsError.self) {
          try store.write { tx in
            try tx.insert("Note", ["id": "d"])
            inside.signal()
          }
        }
        #expect([.outcomeUnknown, .poisoned].contains(error?.code))
        done.signal()
      }
      inside.waitUnlessCancelled()
    }
    let error = #expect(throws: AnnalsError.self) { try store.note("c") }
    #expect(error?.code == .outcomeUnknown)
    done.waitUnlessCancelled()
    #expect(try store.ids() == ["a", "b"])
    #expect(#expect(throws: AnnalsError.self) { try store.note("e") }?.code == .poisoned)
    try store.close()
    let again = try Store(StoreLocation(fileSystem: disk, path: "/a.annals"), creates: false)
    #expect(try again.ids().prefix(2) == ["a", "b"])
    #expect(try again.verifyHistory() == [])
  }

  @Test func aCheckpointAndAReloadFollowACommitThatMovedOn() throws {
    let location = memoryFile()
    let store = try noteStore(location)
    let other = try noteStore(location, seed: 2)
    for number in 1...5 { try store.note("\(number)") }
    try store.checkpoint()
    try other.note("by the other")
    try store.note("6")
    try store.compact()
    try store.note("7")
    #expect(try store.ids().count == 8)
    #expect(try store.verifyHistory() == [])
    try other.refresh()
    #expect(try other.ids() == store.ids())
  }
}
