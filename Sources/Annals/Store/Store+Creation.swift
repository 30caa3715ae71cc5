import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage

extension Store {
  /// Creates a store whose history begins after transaction `base`, with the state that `body`
  /// makes as its base; for reading back the export of a pruned store.
  ///
  /// - Throws: `.alreadyExists` if there is a file; what `body` throws. Then nothing is left
  ///   behind.
  package static func create(
    _ location: StoreLocation, base: Int64, timestamp: Timestamp,
    environment: StoreEnvironment = .system, _ body: (WriteTransaction) throws -> Void
  ) throws {
    precondition(base > 0, "the base of a store without a past is 0, and empty")
    // The base is first written as the one transaction of a scratch file beside, with all the
    // checks, and then flattened into the new store.
    let scratch = StoreLocation(
      fileSystem: location.fileSystem, path: location.path + ".base")
    var new = NewLog(store: environment.makeUUID(), created: environment.now())
    new.base = base - 1
    new.baseTimestamp = timestamp
    try AnnalsError.narrowing { () throws in
      guard try LogFile.create(at: scratch.path, in: scratch.fileSystem, new) else {
        throw LogError.exists(scratch.path)
      }
    }
    defer { try? scratch.fileSystem.remove(scratch.path) }
    let store = try Store(scratch, creates: false, environment: environment)
    defer { try? store.close() }
    var origin = TransactionOrigin()
    origin.timestamp = timestamp
    origin.isAlwaysRecorded = true
    origin.allowsDangling = true
    _ = try store.transact(origin, body)
    try store.replay(to: location.path, at: base, flatten: true)
  }
}
