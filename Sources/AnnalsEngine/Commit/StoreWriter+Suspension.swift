import AnnalsLog
import AnnalsStorage
import Synchronization

// Suspension: a process that the system may stop keeps no lock meanwhile.

extension StoreWriter {
  /// Refuses writes from now on, waits until those under way are acknowledged, and releases the
  /// file lock, in every lock mode. Writes that wait for the lock of another process end at once.
  package func suspend() throws(AnnalsError) {
    try requireOutside()
    if log.hasPendingAdvances, !log.isPoisoned {
      ignoringFailure(waiting: LockWait.none) { try $0.appendAdvances() }
    }
    isSuspended.store(true, ordering: .releasing)
    try enterAlone()
    if isFileLocked { releaseFileLock() }
    leaveAlone()
    head.dropWorkingState()
  }

  /// Accepts writes again.
  package func resume() throws(AnnalsError) {
    try requireOwner()
    isSuspended.store(false, ordering: .releasing)
  }
}
