import AnnalsStorage
import Synchronization

/// Group commit: concurrent commits share one sync.
///
/// A commit is *appended* under the writer's lock, where it joins the open group, and
/// *acknowledged* here. The first to join a group is its leader. When the group before it has
/// ended, the leader closes its own group, so that the next one can open, and syncs on its own
/// thread for all members. So at most two groups exist: one is synced while the other fills.
///
/// Threads that a group's end releases mostly write again at once. If they came too late for the
/// next group, each sync would serve only half of the threads. So the next group waits for as many
/// commits as were released, at most for the length of a sync, and not after a group for which they
/// did not come. The last expected one becomes the leader in place of the first, which then need
/// not be woken.
///
/// The end of a group wakes only its followers and the leader of the next group. If a sync fails,
/// its group fails, and so do all groups behind it.
///
/// Knows no transaction numbers and no states: `StoreHead` and the log do. `join` is for the holder
/// of the writer's lock; everything else may be called on any thread.
final class GroupCommit: @unchecked Sendable {
  /// The work of a leader for its group.
  struct Duties {
    /// Whether the leader may wait for more members: nothing keeps them from joining.
    let mayWait: () -> Bool
    /// Makes everything appended so far durable.
    let sync: () throws(AnnalsError) -> Void
    /// Makes the group visible to readers. Called before any commit of the group is acknowledged.
    let publish: () -> Void
    /// Drops what was appended, since a sync failed.
    let discard: () -> Void
  }

  /// A commit's membership in its group.
  struct Membership {
    fileprivate let group: CommitGroup
    fileprivate let number: Int
    fileprivate let isLeader: Bool
  }

  /// Guards what follows. The leader of the open group waits on it; so does, briefly, a leader that
  /// another member has replaced.
  private let lock = ConditionLock(.group)
  @exclusivity(unchecked) private var filling: CommitGroup?
  @exclusivity(unchecked) private var syncing: CommitGroup?
  @exclusivity(unchecked) private var firstFailure: AnnalsError?
  @exclusivity(unchecked) private var returning = ReturningWriters()
  /// Whether there is a first failure: so that each commit can ask without the lock.
  private let hasFailed = Atomic<Bool>(false)
  /// How often a waiting thread was woken; for tests.
  private let wakeUps = Atomic<Int>(0)

  /// Whether commits wait for their sync.
  var isPending: Bool { lock.withLock { filling != nil || syncing != nil } }

  /// Whether the next to join leads its group, and waits for nobody.
  var isIdle: Bool {
    lock.withLock { filling == nil && syncing == nil && returning.deadline == nil }
  }

  /// The error of the first failed sync; after it nothing is acknowledged any more.
  var failure: AnnalsError? {
    hasFailed.load(ordering: .acquiring) ? lock.withLock { firstFailure } : nil
  }

  /// How often threads were woken that waited for a group or for the lock.
  var wakeUpCount: Int { wakeUps.load(ordering: .relaxed) }

  /// Adds an appended commit to the open group.
  ///
  /// `earlier` is the membership of the same caller's previous commit, which this one then stands
  /// for: whoever joins must call `acknowledge` with the last membership.
  func join(after earlier: Membership? = nil) -> Membership {
    lock.withLock {
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

  /// Waits until the commit is synced and published, which the leader of its group does.
  ///
  /// Returns whether this call was the leader. Throws the sync's error to every member of the
  /// group.
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

  /// Waits until the previous group has ended, and closes this one. Returns false if another member
  /// leads it. `failure` becomes the error of an earlier sync.
  private func awaitTurn(
    of member: Membership, _ mayWait: () -> Bool, _ failure: inout AnnalsError?
  ) -> Bool {
    lock.withLock {
      let group = member.group
      while group.leader == member.number, syncing != nil {
        lock.wait()
        wakeUps.wrappingAdd(1, ordering: .relaxed)
      }
      // If the last expected member leads now, it does not wait for this thread to notice.
      guard group.leader == member.number else { return false }
      if let deadline = returning.deadline, firstFailure == nil, mayWait() {
        while group.leader == member.number, lock.wait(until: deadline) {}
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

  /// Ends the group that was synced or failed. Wakes the next leader first, so that the disk has
  /// work.
  private func end(
    _ group: CommitGroup, _ failure: AnnalsError?, since start: ContinuousClock.Instant?
  ) {
    lock.withLock {
      syncing = nil
      if firstFailure == nil { firstFailure = failure }
      if firstFailure != nil { hasFailed.store(true, ordering: .releasing) }
      returning.begin(released: group.count, joined: filling?.count ?? 0, since: start)
      lock.broadcast()
    }
    group.end(failure)
  }

  /// Waits until every commit appended so far is acknowledged or has failed.
  func drain() {
    let last = lock.withLock { () -> CommitGroup? in
      let last = filling ?? syncing
      last?.admitWaiter()
      return last
    }
    try? last?.wait(countingIn: wakeUps)
  }
}

/// The commits that share one sync, and the threads that wait for it.
private final class CommitGroup: @unchecked Sendable {
  // Guarded by `GroupCommit.lock`.
  /// How many commits have joined.
  @exclusivity(unchecked) var count = 0
  /// The number of the commit whose thread syncs.
  @exclusivity(unchecked) var leader = 0
  /// What the followers wait on. Made for the first of them, as most groups consist of a leader
  /// alone. Not set any more once the group has ended.
  @exclusivity(unchecked) private var condition: ConditionLock?
  // Guarded by the condition.
  @exclusivity(unchecked) private var hasEnded = false
  @exclusivity(unchecked) private var failure: AnnalsError?

  /// Makes sure that a follower can wait; call it under `GroupCommit.lock`.
  func admitWaiter() {
    if condition == nil { condition = ConditionLock(.followers) }
  }

  /// Waits for the end of the group; throws the sync's error. For admitted followers.
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

  /// Ends the group with the sync's result; once, when nobody can be admitted any more.
  func end(_ failure: AnnalsError?) {
    guard let condition else { return }
    condition.withLock {
      hasEnded = true
      self.failure = failure
    }
    // Signalled outside the lock, which the woken thread needs. Each woken thread wakes one more:
    // if all woke at once, most would only sleep again at the writer's lock.
    let count = min(ConditionLock.processorCount, CommitGroup.mostWokenAtOnce)
    for _ in 0..<count { condition.signal() }
  }

  private static let mostWokenAtOnce = 8
}
