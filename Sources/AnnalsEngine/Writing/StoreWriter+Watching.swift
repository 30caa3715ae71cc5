import AnnalsLog
import AnnalsStorage

extension StoreWriter {
  /// Starts listening to the feed. Throws `.io` if no thread can be started to watch the file.
  package func listen() throws(AnnalsError) -> FeedListener {
    do throws(StorageError) {
      try watcher.add(
        watch: { log.watch() }, catchUp: { [weak self] in self?.catchUpForListeners() ?? true })
    } catch {
      throw AnnalsError(.io, "other processes' commits cannot be followed: \(error)")
    }
    return FeedListener(watcher)
  }

  /// Whether the file is watched for commits of other processes.
  package var isWatching: Bool { watcher.isRunning }

  /// How often the file was looked at since somebody listens; for tests.
  package var watchLookCount: Int { watcher.lookCount }

  /// Catches up with the commits of other processes. Returns false if they cannot be read now;
  /// listeners learn of the failure.
  private func catchUpForListeners() -> Bool {
    do {
      try refresh()
      head.endFailure()
      return true
    } catch {
      let error = AnnalsError.wrapping(error)
      if error.code == .closed { return true }
      head.fail(error)
      return false
    }
  }
}
