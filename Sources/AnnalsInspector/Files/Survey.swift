import Annals
import AnnalsStorage
import Synchronization

/// Long work on a file that runs on a thread of its own, while requests ask how far it is.
final class Survey<Result: Sendable>: Sendable {
  /// How far the work is.
  struct Progress: Sendable {
    /// The state of the file of which the result is.
    fileprivate var stamp: FileStamp?
    var result: Result?
    var share = 0.0
    var failure: RequestFault?
    fileprivate var isRunning = false
  }

  private let progress = Locked(Progress())

  /// What is known of the file in this state. Begins the work if it was not done yet, and waits for
  /// it a while. A result of an earlier state is returned while a newer one is made.
  func current(
    of stamp: FileStamp, waiting time: WorkTime,
    _ work: @escaping @Sendable (Survey) throws -> Result
  ) throws -> Progress {
    let begins = progress.withLock { progress in
      if progress.isRunning || progress.stamp == stamp { return false }
      progress.isRunning = true
      progress.share = 0
      progress.failure = nil
      return true
    }
    if begins {
      let thread = try WorkerThread(name: "annals survey")
      thread.submit { [self] in
        var failure: RequestFault?
        var result: Result?
        do {
          result = try work(self)
        } catch let fault as RequestFault {
          failure = fault
        } catch {
          failure = RequestFault("\(error)")
        }
        progress.withLock { progress in
          progress.stamp = stamp
          progress.isRunning = false
          progress.share = 1
          progress.failure = failure
          if let result { progress.result = result }
        }
        thread.stop()
      }
    }
    while !time.isOver {
      let known = progress.withLock { $0 }
      if !known.isRunning { break }
      sleepThread(for: .milliseconds(10))
    }
    let known = progress.withLock { $0 }
    if let failure = known.failure { throw failure }
    return known
  }

  /// Says how far the work is, and what is known of the result.
  func report(_ share: Double, _ result: Result? = nil) {
    progress.withLock { progress in
      progress.share = min(share, 0.99)
      if let result { progress.result = result }
    }
  }
}

/// Which bytes a file has, as far as its size, its time and its place say.
struct FileStamp: Hashable, Sendable {
  var size: UInt64
  var modified: Int64
  var inode: UInt64
}
