import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage

extension Store {
  /// Creates a store whose history begins after transaction `base`, and whose base is the state
  /// that `body` makes; for importing the export of a pruned store.
  ///
  /// - Throws: `.alreadyExists` if a file exists; what `body` throws. Then nothing is left behind.
  ///   `.outcomeUnknown` if the store's name could be neither made durable nor removed: the whole
  ///   store may or may not be there.
  package static func create(
    _ location: StoreLocation, base: Int64, timestamp: Timestamp,
    environment: StoreEnvironment = .system, _ body: (WriteTransaction) throws -> Void
  ) throws {
    insist(base > 0, "the base of a store without a past is 0, and empty")
    // The base is first written as the one transaction of a scratch file beside it, with all
    // checks, and then flattened into the new store.
    let fileSystem = location.fileSystem
    let scratch = StoreLocation(
      fileSystem: fileSystem, path: LogFile.scratchPath(for: location.path))
    var new = NewLog(store: NewLog.scratchStore, created: environment.clock())
    new.base = base - 1
    try AnnalsError.translating {
      try LogFile.clearScratch(for: location.path, in: fileSystem)
      guard try LogFile.create(at: scratch.path, in: scratch.fileSystem, new) else {
        throw LogError.exists(scratch.path)
      }
    }
    defer { try? fileSystem.remove(scratch.path) }
    // The lock tells others that the scratch file is in use.
    var options = StoreOptions()
    options.lockMode = .exclusive
    let store = try Store(scratch, creates: false, options: options, environment: environment)
    defer { try? store.close() }
    var origin = TransactionOrigin()
    origin.timestamp = timestamp
    origin.isAlwaysRecorded = true
    origin.allowsDangling = true
    do {
      _ = try store.commitTransaction(origin, body)
    } catch let error as AnnalsError where error.code == .outcomeUnknown {
      // The outcome is known: the scratch file is removed, and with it everything.
      throw AnnalsError(
        error.underlying.map { AnnalsError.Code(of: $0) } ?? .io,
        "the base of \(location.path) cannot be written. Nothing is left of it; repair the disk "
          + "and try again", underlying: error.underlying)
    }
    try store.replay(to: location.path, at: base, flatten: true)
  }
}
