import Annals
import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsStorage

// Writes that wait travel together.
//
// - While one batch is on its way, further writes wait. The task of one of them leads: it takes
//   what waits, as much as a batch may hold. The closures run one after the other, each on the
//   state with those before it.
// - The log gets all transactions at once, each after the one before it. What it takes is a prefix:
//   that goes to the file as one group with one sync, and its tasks go on, in order. The others run
//   again, on the newest state.
// - What a closure came to on a state with transactions that the log did not take counts for
//   nothing. Once it has taken those, that state was the newest: so a write that throws or comes to
//   nothing behind them needs no other look at the log.
// - After an answer that did not come the records stay the same, until the log has them, or has
//   another one in their place: the file knows that once it has caught up.
// - A write that is alone, and one that needs the newest state as it is in the log (based on a
//   position, undo, migrations, changes of the schema, erasures, transactions longer than a record)
//   goes by itself, as `commitAlone`.

extension Replica {
  /// How often those are let pass that go on at a batch's end, and mostly write again at once.
  private static let mostYields = 8

  /// Waits until a write has ended, and leads while it has to. Returns what it came to.
  func perform(_ submission: Submission) async throws -> Submission.Ending {
    await withTaskCancellationHandler {
      let leads = queue.add(submission)
      if leads { return await lead(submission) }
      if await submission.waits() { await lead(submission) }
    } onCancel: {
      submission.cancel()
    }
    return try submission.result()
  }

  /// Forms batches until this write has ended; then another one leads.
  private func lead(_ own: Submission) async {
    while !own.isEnded {
      for _ in 0..<Replica.mostYields where !queue.isGathered { await Task.yield() }
      await giveWay()
      await turn.run {
        if own.isEnded { return }
        let batch = queue.take(atMost: Batch.mostWrites) { Retries(options, environment) }
        if batch.count == 1, batch[0] === own { return await runAlone(own) }
        // A task of its own is not cancelled with that of the write that leads.
        await Task {
          if batch.count == 1 { await runAlone(batch[0]) } else { await run(batch) }
        }.value
      }
    }
    queue.handOver()
  }

  private func runAlone(_ submission: Submission) async {
    do {
      if let result = try await commitAlone(submission) {
        submission.end(.success(result))
      } else {
        queue.putBack([submission])
      }
    } catch {
      submission.end(.failure(error))
    }
  }

  /// Runs writes as one batch. Ends those that are decided; the others wait again, in front.
  private func run(_ submissions: [Submission]) async {
    do {
      queue.putBack(try await attempt(submissions))
    } catch {
      for submission in submissions { submission.end(.failure(error)) }
    }
  }

  /// Runs writes as one batch, and publishes it. Returns those that have to run again.
  private func attempt(_ submissions: [Submission]) async throws -> [Submission] {
    try requireOpen()
    let known = try currentPlace()
    let longest = log.shared.longestRecord
    let batch = try await writer.commitOfTask {
      try Batch(submissions, on: $0, after: known, longestRecord: longest)
    }
    batches.withLock { $0.note(batch) }
    var course = BatchCourse(batch, for: store)
    course.decide { $0.isCurrent }
    if course.isDone, !course.rest.isEmpty {
      // There is nothing to publish that would show whether the state is the newest.
      if try await advance() {
        for submission in course.submissions { submission.isCurrent = true }
      } else {
        course.decide()
      }
    }
    while !course.isDone, try await publish(&course) {}
    return course.submissions + batch.rest
  }

  /// Gives the log what it has not taken yet. Returns whether to give it the rest again.
  private func publish(_ course: inout BatchCourse) async throws -> Bool {
    // Before the log was asked, who is cancelled records nothing.
    if !course.wasAsked, course.submissions.contains(where: \.isCancelled) { return false }
    course.wasAsked = true
    course.asked = .now
    let answer = await log.shared.append(contentsOf: course.records, after: course.place.end)
    if !answer.sequences.isEmpty {
      log.outage.end()
      for (offset, sequence) in answer.sequences.enumerated() {
        try requireSequence(sequence, after: course.place.sequence + UInt64(offset))
      }
      won()
      await take(answer.sequences.count, of: &course)
    }
    if course.isDone { return false }
    let failure = answer.failure ?? .unknownOutcome("the log did not answer for all records")
    switch failure {
    case .behind: return try await follow(&course, failure)
    case .unknownOutcome, .unavailable:
      if case .unknownOutcome = failure { course.isDoubtful = true }
      log.outage.note(failure)
      // The log cannot be reached at once.
      course.decide()
      return await wait(&course, failure)
    case .tooLong, .refused, .missing:
      let error = ReplicationError(failure)
      guard course.isDoubtful else {
        course.first?.end(.failure(error))
        return false
      }
      let doubt = log.undecided(.unknownOutcome(error.message), true)
      for submission in course.submissions { submission.end(.failure(doubt)) }
      return false
    }
  }

  /// Applies what the log has taken of a batch, and ends its writes.
  private func take(_ count: Int, of course: inout BatchCourse) async {
    let arrivals = course.arrivals(count)
    var failure: (any Error)?
    do {
      try await apply(arrivals)
    } catch {
      failure = error
    }
    let head = store.token.number
    course.take(count) { made in
      if let failure, head < made.transaction.number {
        return .failure(ReplicationError.notInFile(made.transaction.number, failure))
      }
      return .success(made.ending)
    }
  }

  /// Catches up with a log that has not the record at its end which a batch follows on. Returns
  /// whether to give it the rest again: whatever it has, it has not another record in their place.
  private func follow(_ course: inout BatchCourse, _ failure: SharedLogError) async throws -> Bool {
    var patience = course.patience ?? Retries(options, environment)
    do {
      try await catchUp(&patience)
    } catch let error as ReplicationError where error.code == .unavailable {
      return await wait(&course, .unavailable(error.message))
    } catch let error as AnnalsError where course.isDoubtful {
      throw log.undecided(.unknownOutcome(error.message), true)
    }
    // Of what was given to it before, some may have arrived.
    let ours = course.transactions
    let doubt = course.isDoubtful ? log.undecided(.unknownOutcome("it was pruned"), true) : nil
    let count = try await blocking { [store] in
      let version = store.version
      if let doubt, let first = ours.first, first.number <= version.base.number { throw doubt }
      return try ours.prefix { made in
        try made.number <= version.head.number
          && version.place(of: made.number)?.digest == made.digest
      }.count
    }
    if count > 0 { course.take(count) { .success($0.ending) } }
    if course.isDone { return false }
    let last = course.place.number
    guard try currentPlace().number > last else { return await wait(&course, failure) }
    // Others were faster.
    for submission in course.submissions {
      submission.isCurrent = true
      if submission.isOver { submission.end(.failure(contended())) }
    }
    if !lost(since: course.asked) { await course.pause() }
    return false
  }

  /// Ends the writes of a batch whose deadlines have passed, and pauses. Returns whether to give
  /// the log the rest again: if not, the rest runs again without those that have ended.
  private func wait(_ course: inout BatchCourse, _ failure: SharedLogError) async -> Bool {
    let isDoubtful = course.isDoubtful
    var hasEnded = false
    for item in course.rest where !item.submission.isEnded {
      let submission = item.submission
      if submission.isOver {
        let isUnknown = isDoubtful && item.made != nil
        submission.end(.failure(log.undecided(failure, isUnknown)))
      }
      hasEnded = hasEnded || submission.isEnded || submission.isCancelled
    }
    if hasEnded, !isDoubtful { return false }
    guard course.rest.contains(where: { $0.made != nil && !$0.submission.isEnded }) else {
      return false
    }
    await course.pause()
    return true
  }

  func contended() -> ReplicationError {
    ReplicationError(
      .contended,
      "other replicas were faster each time in \(options.deadline); nothing was recorded. "
        + "Try again")
  }
}
