import Annals
import AnnalsStorage

// Whether the log and the file are there.

extension Replica {
  /// Asks the log where it ends, and looks for the file, again and again, until the replica is
  /// closed: what goes away while nothing is written would not be missed otherwise.
  func startPulse() {
    let task = Task { [weak self, pulse = options.pulse] in
      while (try? await Task.sleep(for: pulse)) != nil {
        guard let self else { return }
        await self.look()
        await self.lookForFile()
      }
    }
    content.withLock { $0.pulse = task }
  }

  private func look() async {
    let next = content.withLock { $0.place.sequence } + 1
    do throws(SharedLogError) {
      let page = try await log.shared.records(from: next, limit: 1)
      log.outage.end()
      content.withLock { $0.newestKnown = page.last }
    } catch {
      log.outage.note(error)
    }
  }

  private func lookForFile() async {
    do {
      try await blocking { [store] in try store.refresh() }
      content.withLock { if $0.fileTrouble?.code == .notFound { $0.fileTrouble = nil } }
    } catch let error as AnnalsError where error.code != .closed {
      content.withLock { $0.fileTrouble = error }
    } catch {
      // The replica is being closed.
    }
  }
}
