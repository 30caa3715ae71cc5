import Annals
import AnnalsStorage

// Whether the log is there.

extension Replica {
  /// Asks the log where it ends, again and again, until the replica is closed: a log that goes away
  /// while nothing is written would not be missed otherwise.
  func startPulse() {
    let task = Task { [weak self, pulse = options.pulse] in
      while (try? await Task.sleep(for: pulse)) != nil {
        guard let self else { return }
        await self.look()
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
}
