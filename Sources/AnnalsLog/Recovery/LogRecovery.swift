import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// The reading of a log from a state to its end, step by step, for whoever keeps the state:
///
///     var recovery = try LogFile.recover(at: path, in: fileSystem, options)
///     while let step = try recovery.next(into: &batch) {
///       do {
///         switch step {
///         case .restore(let start): state = try restored(start)
///         case .apply: try state.apply(&batch)
///         }
///       } catch {
///         try recovery.reject(error)
///       }
///     }
///     let log = try LogFile(recovery)
///
/// Writes nothing. Takes no lock, except to judge damage again before a log is opened for writing:
/// then it holds it until no step is left, or until it is dropped.
package struct LogRecovery {
  /// The path, with all symbolic links followed.
  let path: String
  let fileSystem: any FileSystem
  let options: LogOptions
  private(set) var loading: LogLoading
  private let choice: StartChoice
  /// Whether damage is to be judged again, under the lock.
  private var mayLookAgain: Bool
  private var lock: HeldLock?

  /// How long a recovery that met damage waits for the lock to look again.
  private static let secondLookWait = Duration.seconds(5)

  /// Finds the end of the log. Throws as `next(into:)` does.
  init(
    of generation: LogGeneration, at path: String, in fileSystem: any FileSystem,
    _ options: LogOptions, from choice: StartChoice, mayLookAgain: Bool
  ) throws(LogError) {
    self.path = path
    self.fileSystem = fileSystem
    self.options = options
    self.choice = choice
    self.mayLookAgain = mayLookAgain
    do throws(LogError) {
      loading = try LogLoading(generation, options, from: choice)
    } catch {
      guard mayLookAgain, error.isDamage else { throw error }
      self.mayLookAgain = false
      lock = try HeldLock(generation.file, waiting: LogRecovery.secondLookWait)
      loading = try LogLoading(generation, options, from: choice)
    }
  }

  /// The next step; nil if the end is reached. For `.apply` fills the batch, in place of its
  /// content.
  ///
  /// The first step is to restore the newest state to start from. Another such step may come at any
  /// time, when that start proves unusable: everything built so far is then void. The last resort
  /// is the state at the base. The transactions that follow it come in order: whole ones, or one
  /// part of a large one once all its parts are known to exist. Memory: one batch.
  ///
  /// Throws `damage` if acknowledged data is damaged, unless the options say to read up to it;
  /// `newerReader` if the file announces features that this engine does not know. Then the recovery
  /// has failed.
  package mutating func next(into batch: inout ChangeBatch) throws(LogError) -> RecoveryStep? {
    var step: RecoveryStep?
    do throws(LogError) {
      step = try loading.next(into: &batch)
    } catch {
      try lookAgain(after: error)
      step = try loading.next(into: &batch)
    }
    if step == nil { lock = nil }
    return step
  }

  /// Says that the last step failed with this error: a chunk of the state is damaged, or a
  /// transaction does not fit it. The next step is then to restore another state, or the same if
  /// the log is read up to damage. Throws the error, with the offset of a misfit's frame, if no
  /// other may avoid it; then the recovery has failed.
  package mutating func reject(_ error: any Error) throws(LogError) {
    do throws(LogError) {
      try loading.reject(error)
    } catch {
      try lookAgain(after: error)
    }
  }

  /// Starts from the beginning after damage, once, while nobody writes. Throws other errors.
  private mutating func lookAgain(after error: LogError) throws(LogError) {
    guard mayLookAgain, error.isDamage else { throw error }
    mayLookAgain = false
    lock = try HeldLock(loading.generation.file, waiting: LogRecovery.secondLookWait)
    loading = try LogLoading(loading.generation, options, from: choice)
  }
}

/// What to do next in a recovery.
package enum RecoveryStep: Sendable {
  /// Restore the state that this start says. Everything built before is void.
  case restore(LogStart)
  /// Apply the transactions of the batch.
  case apply
}

/// A file's lock, released when the last reference goes.
private final class HeldLock {
  private let file: any StorageFile

  /// Takes the lock; throws `busy` if it is not free in time.
  init(_ file: any StorageFile, waiting time: Duration) throws(LogError) {
    self.file = file
    let wait = LockWait.until(.now + time)
    guard try wrapping({ try file.lock(.exclusive, wait: wait) }) else {
      throw .busy
    }
  }

  deinit { file.unlock() }
}
