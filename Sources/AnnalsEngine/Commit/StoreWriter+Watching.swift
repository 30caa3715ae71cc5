import AnnalsLog
import AnnalsStorage

extension StoreWriter {
  /// Starts listening to the feed. Throws `.io` if no thread can be started to watch the file.
  package func listen() throws(AnnalsError) -> FeedListener {
    try requireOwner()
    do throws(StorageError) {
      try watcher.add(
        watch: { log.watch() }, catchUp: { [weak self] in self?.catchUpForListeners() },
        report: { [head] error in
          if let error { head.fail(error) } else { head.endFailure() }
        })
    } catch {
      throw AnnalsError(.io, "other processes' commits cannot be followed: \(error)")
    }
    return FeedListener(watcher)
  }

  /// Whether the file is watched for commits of other processes.
  package var isWatching: Bool { watcher.isRunning }

  /// How often the file was looked at since somebody listens; for tests.
  package var watchLookCount: Int { watcher.lookCount }

  /// Catches up with the commits of other processes. Returns why they cannot be read now.
  private func catchUpForListeners() -> AnnalsError? {
    do {
      try refresh()
      return nil
    } catch {
      let error = AnnalsError.translated(error)
      return error.code == .closed ? nil : error
    }
  }
}
