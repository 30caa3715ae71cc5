import Annals
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import AnnalsTorture
import Foundation
import Testing

/// A state of a projection that was made before an erasure is never saved behind it.
///
/// A checkpoint that had encoded its projections wrote them into the file that the erasure had
/// left: the erased values were back, and later readers went on from a wrong count.
@Suite(.serialized) struct ProjectionErasureTests {
  @Test(arguments: [true, false])
  func aCheckpointDuringAnErasure(sharing: Bool) throws {
    let files = MemoryFileSystem()
    let location = StoreLocation(fileSystem: files, path: "/test.annals")
    let store = try noteStore(location)
    let other = sharing ? store : try noteStore(location, seed: 2)
    let victim = try store.note("a", text: "n33dLe-text")
    try store.note("b", text: "some")
    try other.refresh()
    #expect(try store.projection(SlowlyEncoded.self).count(of: "n33dLe-text") == 1)
    let failure = Locked<(any Error)?>(nil)
    let done = DispatchSemaphore(value: 0)
    SlowlyEncoded.encoding.withLock { hook in
      hook = {
        Thread.detachNewThread {
          do {
            try other.erase(victim, reason: "r")
          } catch {
            failure.withLock { $0 = error }
          }
          done.signal()
        }
        if done.wait(timeout: .now() + .seconds(60)) != .success {
          Issue.record("the erasure waits for the projection")
        }
      }
    }
    try store.checkpoint()
    #expect(failure.withLock { $0 } == nil)
    #expect(store.version.view.savedProjections.isEmpty)
    #expect(
      try FileContents(files.open("/test.annals", for: .reading)).count(of: "n33dLe-text") == 0)
    let reader = try noteStore(location, seed: 3)
    #expect(try reader.projection(SlowlyEncoded.self).counts == ["some": 1])
    #expect(try reader.verify().filter { $0.severity != .note } == [])
    // The next checkpoint saves what the erasure has left.
    try store.checkpoint()
    #expect(store.version.view.savedProjections.map(\.name) == [SlowlyEncoded.name])
    #expect(try noteStore(location, seed: 4).projection(SlowlyEncoded.self).counts == ["some": 1])
  }
}

/// How many notes have each text, with a closure that is called once while it is encoded.
private struct SlowlyEncoded: Projection {
  static let name = "slowly encoded"
  static let version = 1
  static let encoding = Locked<(@Sendable () -> Void)?>(nil)
  var content = NotesPerText()

  var counts: [String: Int] { content.counts }

  func count(of text: String) -> Int { counts[text] ?? 0 }

  mutating func apply(_ transaction: Transaction) throws { try content.apply(transaction) }

  func encoded() throws -> Data {
    SlowlyEncoded.encoding.withLock { $0.take() }?()
    return try content.encoded()
  }
}

extension SlowlyEncoded {
  init(base: Snapshot) throws { content = try NotesPerText(base: base) }
  init(encoded: Data) throws { content = try NotesPerText(encoded: encoded) }
}
