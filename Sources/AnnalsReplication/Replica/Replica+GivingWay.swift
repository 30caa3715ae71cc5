import Annals
import AnnalsStorage

// How replicas that write at the same time let each other in.
//
// - The log takes the record of whoever is first on the newest state. That is mostly who has just
//   written: one busy replica would be first each time.
// - Who was too slow twice in a row asks the others for a turn, for three times as long as its
//   attempt has taken. They begin no batch until a record of another replica has come, or that time
//   is over; and it tries again without a pause.
// - A request may be lost, late, or from somebody who then does nothing. It costs others a second
//   at most.

extension Replica {
  /// Notes that others were faster in an attempt that began then, and that it has caught up with
  /// them. Returns whether the others were asked for a turn, so that the next attempt is not to
  /// wait.
  func lost(since start: ContinuousClock.Instant) -> Bool {
    let asker: UInt64? = content.withLock { content in
      content.courtesy.lose()
      guard content.courtesy.isAsking else { return nil }
      let asker = content.courtesy.asker ?? environment.random()
      content.courtesy.asker = asker
      return asker
    }
    guard let asker else { return false }
    let taken = start.duration(to: .now)
    let length = min(max(taken * 3, .milliseconds(20)), TurnRequest.longest)
    log.shared.ask(for: TurnRequest(asker: asker, length: length))
    return true
  }

  /// Notes that this replica was first.
  func won() { content.withLock { $0.courtesy.win() } }

  /// Waits while another replica has asked for a turn; a second at most.
  func giveWay() async {
    let limit = ContinuousClock.now + TurnRequest.longest
    while true {
      let now = ContinuousClock.now
      guard now < limit, content.withLock({ $0.courtesy.end(at: now) }) != nil else { return }
      // A task of its own is not cancelled with the caller's.
      await Task { try? await Task.sleep(for: .milliseconds(1)) }.value
    }
  }

  /// Whether another replica is to be let in; for tests.
  package var isAskedForTurn: Bool {
    content.withLock { $0.courtesy.end(at: .now) != nil }
  }

  /// Hears what others ask for, until the replica is closed.
  func startGivingWay() {
    let requests = log.shared.turnRequests()
    let task = Task { [weak self] in
      for await request in requests {
        guard let self else { return }
        content.withLock { $0.courtesy.note(request, at: .now) }
      }
    }
    content.withLock { $0.hearing = task }
  }
}
