import AnnalsStorage
import Synchronization

/// How concurrent commits share one sync.
///
/// A commit is *appended* under the writer's lock, where it joins the group that is filling, and
/// *acknowledged* here. The first to join a group leads it: when the group before has ended, it
/// closes its own, so that another can fill, and syncs on its own thread for all in it. So there
/// are two groups at most, one that is synced and one that fills meanwhile.
///
/// Those who are released by the end of a group mostly write again at once. If they came too late
/// for the next, threads would share each sync with half of the others. So that group waits for as
/// many as were released, for as long as a sync takes at most, and not where they did not come; the
/// last of them leads in place of the first, which need not be woken.
///
/// Only those are woken whose turn it is: at the end of a group its followers, and the leader of
/// the next. If a sync fails, its group fails, and so does all that comes behind.
///
/// It knows no numbers and no states: those are `StoreHead`'s, the file is the log's. `join` comes
/// from the holder of the writer's lock; all else from any thread.
final class GroupCommit: @unchecked Sendable {
  /// What a leader does for its group.
  struct Duties {
    /// Whether those who were released can come: nobody keeps them out.
    let mayWait: () -> Bool
    /// Makes everything appended so far durable.
    let sync: () throws(AnnalsError) -> Void
    /// Shows readers what is durable now. Called before any commit of the group is acknowledged.
    let publish: () -> Void
    /// Forgets what was appended, since a sync failed.
    let discard: () -> Void
  }

  /// A commit's place in its group.
  struct Membership {
    fileprivate let group: CommitGroup
    fileprivate let number: Int
    fileprivate let isLeader: Bool
  }

  /// Guards what follows. The leader of the group that fills waits on it, and for a moment one whom
  /// another has relieved.
  private let turn = Condition()
  @exclusivity(unchecked) private var filling: CommitGroup?
  @exclusivity(unchecked) private var syncing: CommitGroup?
  @exclusivity(unchecked) private var firstFailure: AnnalsError?
  @exclusivity(unchecked) private var returning = ReturningWriters()
  /// How often a thread that waited was woken; for tests.
  private let wakeUps = Atomic<Int>(0)

  /// Whether commits wait for their sync.
  var isPending: Bool { turn.withLock { filling != nil || syncing != nil } }

  /// What a sync has failed with; nothing is acknowledged any more.
  var failure: AnnalsError? { turn.withLock { firstFailure } }

  /// How often threads that waited for a group or for their turn were woken.
  var wakeUpCount: Int { wakeUps.load(ordering: .relaxed) }

  /// Joins a commit that was appended to the group that is filling.
  ///
  /// `earlier` is the membership of the same caller's commit before, which this one then stands
  /// for: whoever joins has to call `acknowledge` with the last.
  func join(after earlier: Membership? = nil) -> Membership {
    turn.withLock {
      if let earlier, earlier.group === filling { return earlier }
      let group = filling ?? CommitGroup()
      filling = group
      let number = group.count
      group.count += 1
      if number > 0 {
        group.admitWaiter()
        if returning.isComplete(group.count) { group.leader = number }
      }
      return Membership(group: group, number: number, isLeader: group.leader == number)
    }
  }

  /// Waits until the commit is synced and published; its leader sees to that.
  ///
  /// Returns whether this call led. Throws what the sync failed with, to all that waited for it.
  func acknowledge(_ member: Membership, _ duties: Duties) throws(AnnalsError) -> Bool {
    let group = member.group
    var failure: AnnalsError?
    guard member.isLeader, awaitTurn(of: member, duties.mayWait, &failure) else {
      try group.wait(countingIn: wakeUps)
      return false
    }
    let start = group.count > 1 ? ContinuousClock.now : nil
    if failure == nil {
      do throws(AnnalsError) {
        try duties.sync()
        duties.publish()
      } catch {
        failure = error
      }
    }
    if failure != nil { duties.discard() }
    end(group, failure, since: start)
    if let failure { throw failure }
    return true
  }

  /// Waits until the group before has ended, and closes this one; returns false if another leads
  /// it. `failure` becomes what an earlier sync has failed with.
  private func awaitTurn(
    of member: Membership, _ mayWait: () -> Bool, _ failure: inout AnnalsError?
  ) -> Bool {
    turn.withLock {
      let group = member.group
      while group.leader == member.number, syncing != nil {
        turn.wait()
        wakeUps.wrappingAdd(1, ordering: .relaxed)
      }
      // Another may have come last and lead now: it need not wait for this thread to notice.
      guard group.leader == member.number else { return false }
      if let deadline = returning.deadline, firstFailure == nil, mayWait() {
        while group.leader == member.number, turn.wait(until: deadline) {}
      } else {
        returning.forget()
      }
      guard group.leader == member.number else { return false }
      returning.end(with: group.count)
      filling = nil
      syncing = group
      failure = firstFailure
      return true
    }
  }

  /// Ends the group that was synced, or failed: the next leader first, so that the disk has work.
  private func end(
    _ group: CommitGroup, _ failure: AnnalsError?, since start: ContinuousClock.Instant?
  ) {
    turn.withLock {
      syncing = nil
      if firstFailure == nil { firstFailure = failure }
      returning.begin(released: group.count, joined: filling?.count ?? 0, since: start)
      turn.broadcast()
    }
    group.end(failure)
  }

  /// Waits until every commit appended so far is acknowledged or has failed.
  func drain() {
    let last = turn.withLock { () -> CommitGroup? in
      let last = filling ?? syncing
      last?.admitWaiter()
      return last
    }
    try? last?.wait(countingIn: wakeUps)
  }
}

/// Who was released by the end of a group, and is expected in the next.
private struct ReturningWriters {
  /// How many commits the next group has when all are back; 0 if nobody is waited for.
  private var expected = 0
  /// Until when they are waited for.
  private(set) var deadline: ContinuousClock.Instant?
  /// How many groups are not to wait, and how many were last time.
  private var groupsLeft = 0
  private var groupsSkipped = 0

  private static let longestWait = Duration.milliseconds(1)
  private static let mostSkipped = 64

  /// Begins to expect those who were released, besides those who have joined meanwhile. `start` is
  /// when the sync began; nil if it was for one commit, whose writer then keeps nobody waiting.
  mutating func begin(released: Int, joined: Int, since start: ContinuousClock.Instant?) {
    guard released + joined > 1 else { return }
    if groupsLeft > 0 {
      groupsLeft -= 1
      return
    }
    let now = ContinuousClock.now
    let length = start.map { $0.duration(to: now) } ?? ReturningWriters.longestWait
    expected = released + joined
    deadline = now.advanced(by: min(length, ReturningWriters.longestWait))
  }

  /// Whether the last that was expected has come, who then leads.
  mutating func isComplete(_ count: Int) -> Bool {
    guard expected > 0, count == expected else { return false }
    groupsSkipped = 0
    forget()
    return true
  }

  /// Ends the wait when the group closes. If they did not come, the next groups do not wait: twice
  /// as many each time.
  mutating func end(with count: Int) {
    guard expected > 0 else { return }
    if count < expected - expected / 4 {
      groupsSkipped = min(max(1, groupsSkipped * 2), ReturningWriters.mostSkipped)
      groupsLeft = groupsSkipped
    }
    forget()
  }

  /// Expects nobody any more, for now.
  mutating func forget() {
    expected = 0
    deadline = nil
  }
}

/// Commits that share one sync, and the threads that wait for it.
private final class CommitGroup: @unchecked Sendable {
  // Guarded by `GroupCommit.turn`.
  /// How many commits have joined.
  @exclusivity(unchecked) var count = 0
  /// The number of the commit whose thread syncs.
  @exclusivity(unchecked) var leader = 0
  /// What those who wait do so on; made for the first, as most groups have a leader alone. Not set
  /// any more once the group has ended.
  @exclusivity(unchecked) private var condition: Condition?
  // Guarded by the condition.
  @exclusivity(unchecked) private var hasEnded = false
  @exclusivity(unchecked) private var failure: AnnalsError?

  /// Sees to it that a thread can wait; under `GroupCommit.turn`.
  func admitWaiter() {
    if condition == nil { condition = Condition() }
  }

  /// Waits for the end of the group; throws what its sync failed with. For those who were admitted.
  func wait(countingIn wakeUps: borrowing Atomic<Int>) throws(AnnalsError) {
    guard let condition else { preconditionFailure("only those who were admitted wait") }
    let failure = condition.withLock {
      while !hasEnded {
        condition.wait()
        wakeUps.wrappingAdd(1, ordering: .relaxed)
      }
      return self.failure
    }
    condition.signal()
    if let failure { throw failure }
  }

  /// Says how the sync went; once, when nobody can be admitted any more.
  func end(_ failure: AnnalsError?) {
    guard let condition else { return }
    condition.withLock {
      hasEnded = true
      self.failure = failure
    }
    // Outside the lock, which those who wake need. Each then wakes another: if all woke at once,
    // all but a few would have to sleep again at the writer's lock.
    for _ in 0..<min(Condition.processorCount, CommitGroup.mostWokenAtOnce) { condition.signal() }
  }

  private static let mostWokenAtOnce = 8
}
