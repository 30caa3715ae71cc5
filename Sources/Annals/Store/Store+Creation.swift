import AnnalsEngine
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
  ///   behind. `.outcomeUnknown` if the store's name could neither be made durable nor taken back:
  ///   then it is there, whole, or not.
  package static func create(
    _ location: StoreLocation, base: Int64, timestamp: Timestamp,
    environment: StoreEnvironment = .system, _ body: (WriteTransaction) throws -> Void
  ) throws {
    precondition(base > 0, "the base of a store without a past is 0, and empty")
    // The base is first written as the one transaction of a scratch file beside, with all the
    // checks, and then flattened into the new store.
    let fileSystem = location.fileSystem
    let scratch = StoreLocation(
      fileSystem: fileSystem, path: LogFile.scratchPath(for: location.path))
    var new = NewLog(store: NewLog.scratchStore, created: environment.clock())
    new.base = base - 1
    try AnnalsError.narrowing { () throws in
      try LogFile.clearScratch(for: location.path, in: fileSystem)
      guard try LogFile.create(at: scratch.path, in: scratch.fileSystem, new) else {
        throw LogError.exists(scratch.path)
      }
    }
    defer { try? fileSystem.remove(scratch.path) }
    // The lock tells others that somebody is at work on the scratch file.
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
      // The outcome is known: the scratch file goes, and with it everything.
      throw AnnalsError(
        error.underlying.map { AnnalsError.Code(of: $0) } ?? .io,
        "the base of \(location.path) cannot be written. Nothing is left of it; mend the disk "
          + "and try again", underlying: error.underlying)
    }
    try store.replay(to: location.path, at: base, flatten: true)
  }
}
