import Annals
import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsStorage

// From the log to the file.

extension Replica {
  /// Applies all that the log has and the file lacks; offers the log what the file has, if it lost
  /// that. Returns the position that the store has then.
  ///
  /// Throws `ReplicationError`: `.unavailable` if the log was not reached by the deadline,
  /// `.lostTail`, `.notRemade`, `.branched`, `.skipped`, `.repeated`, `.otherStore`, `.trimmed`,
  /// `.diverged`, `.damaged`, `.newerVersion` if this replica cannot go on with it; and as
  /// committing does. What was applied before stays; nothing is ever taken out of the file.
  @discardableResult
  public func catchUp() async throws -> Token {
    try requireOpen()
    let token = try await turn.run {
      var retries = Retries(options, environment)
      try await catchUp(&retries)
      return store.token
    }
    await registerProgress()
    return token
  }

  /// As `catchUp()`, for the holder of the turn.
  func catchUp(_ retries: inout Retries) async throws {
    do {
      let before = try currentPlace()
      var ahead: LogReading?
      while try await applyPage(&ahead, &retries, comparingAt: before) {}
      // Not before: what the log lost is offered while the file has its values.
      try await finishErasures()
      content.withLock { $0.failure = nil }
    } catch let error as ReplicationError where error.code == .branched {
      throw noting(await naming(error, &retries))
    } catch let error as ReplicationError where error.code == .unavailable {
      try await finishErasures()
      throw error
    } catch {
      throw noting(error)
    }
  }

  /// Applies what was read of the log ahead, or else one page of it; reads the next one meanwhile.
  /// Returns whether there may be more. With nothing new since `before`, compares the file's end
  /// with the log; what is new compares itself.
  private func applyPage(
    _ ahead: inout LogReading?, _ retries: inout Retries, comparingAt before: ReplicaPlace
  ) async throws -> Bool {
    let place = try currentPlace()
    let page: LogReading
    if let read = ahead, read.start == place.sequence + 1 {
      page = read
    } else {
      page = try await log.reading(from: place.sequence + 1, options.pageLength, &retries)
    }
    ahead = nil
    content.withLock { $0.newestKnown = page.last }
    if page.last < place.sequence {
      try await restoreTail(&retries)
      guard await retries.wait() else { throw Replica.restoring(0, page.last, place) }
      return true
    }
    if page.first > place.sequence + 1 {
      try await resync(before: page.first, &retries)
      return true
    }
    guard let end = page.arrivals.last?.sequence else {
      if let failure = page.failure { throw failure }
      guard page.last > place.sequence else {
        if place == before { try await requireOwnTail(&retries) }
        return false
      }
      // It is there, and the page did not have it.
      guard await retries.wait() else {
        throw ReplicationError(
          .skipped,
          "the log does not give record \(page.start), and it has others up to \(page.last)")
      }
      return true
    }
    guard end < page.last else {
      try await applyOthers(page.arrivals)
      return false
    }
    async let next = readAhead(from: end + 1)
    try await applyOthers(page.arrivals)
    ahead = await next
    return true
  }

  /// What the log has from a sequence on; nil if nothing of it can be read at once.
  private func readAhead(from start: UInt64) async -> LogReading? {
    var once = Retries(options, environment, isOnce: true)
    let reading = try? await log.reading(from: start, options.pageLength, &once)
    return reading?.arrivals.isEmpty == false ? reading : nil
  }

  // MARK: Into the file

  private func applyOthers(_ arrivals: [LogReading.Arrival]) async throws {
    try await apply(arrivals)
    content.withLock { $0.courtesy.heard = $0.place.sequence }
  }

  /// Commits transactions to the file, in this order, and carries out what they erase.
  func apply(_ arrivals: [LogReading.Arrival]) async throws {
    var rest = arrivals[...]
    while !rest.isEmpty {
      // A file is rewritten as soon as an erasure is in it.
      let erasing = rest.firstIndex { $0.transaction.erasure != nil }
      let run = Array(rest[...(erasing ?? rest.endIndex - 1)])
      rest = rest.dropFirst(run.count)
      let known = content.withLock { $0.place }
      // A task of its own is not cancelled with the caller's: the log has these transactions.
      let place = try await Task { [writer] in
        try await writer.commitOfTask { try Replica.commit(run, to: $0, after: known) }
      }.value
      content.withLock { content in
        content.place = place
        content.newestKnown = max(content.newestKnown, place.sequence)
        for arrival in run { content.volume.add(arrival.sequence, arrival.transaction.bytes.count) }
        if erasing != nil, let last = run.last?.transaction, let erasure = last.erasure {
          content.unfinished.append((erasure, last.number))
        }
      }
      try await finishErasures()
    }
  }

  /// Commits those of the transactions that the file lacks, for the holder of the writer's turn.
  /// Returns how far the file has come.
  private static func commit(
    _ run: [LogReading.Arrival], to writer: StoreWriter, after known: ReplicaPlace
  ) throws -> ReplicaPlace {
    var place = try writer.newest.newestPlace(knowing: known)
    for arrival in run where arrival.sequence > place.sequence {
      let transaction = arrival.transaction
      try transaction.requireFollowing(place.number, place.digest, in: writer.log.store)
      _ = try transaction.commit(to: writer, at: arrival.sequence)
      place = ReplicaPlace(
        number: transaction.number, sequence: arrival.sequence, digest: transaction.digest)
    }
    return place
  }

  /// Rewrites the file without what transactions in it have erased.
  private func finishErasures() async throws {
    while let next = content.withLock({ $0.unfinished.first }) {
      try await blocking { [writer] in try writer.carryOut(next.erasure, of: next.number) }
      content.withLock { if !$0.unfinished.isEmpty { $0.unfinished.removeFirst() } }
    }
  }

  // MARK: By itself

  /// Applies what others write, as it comes, until the replica is closed or cannot go on.
  func startFollowing() {
    let last = content.withLock { $0.place.sequence }
    let growth = log.shared.growth(after: last)
    let task = Task { [weak self] in
      for await last in growth {
        guard let self, await self.follow(to: last) else { return }
      }
    }
    content.withLock { $0.follower = task }
  }

  /// What a store throws that will take no transaction any more.
  private static let ends: [AnnalsError.Code] = [.closed, .poisoned, .forked]

  /// Catches up once, unless the file has the log's last record: mostly it is of this replica.
  /// Returns false if the replica cannot go on.
  private func follow(to last: UInt64) async -> Bool {
    var pauses = Retries(options, environment, isEndless: true)
    while !Task.isCancelled {
      do {
        try requireOpen()
        try await turn.run {
          let isKnown = content.withLock { $0.place.sequence == last && $0.failure == nil }
          if isKnown { return }
          var retries = Retries(options, environment)
          try await catchUp(&retries)
        }
        content.withLock { $0.fileTrouble = nil }
        return true
      } catch let error as ReplicationError where error.isLasting {
        return false
      } catch let error as AnnalsError where Replica.ends.contains(error.code) {
        return false
      } catch {
        if let error = error as? AnnalsError { content.withLock { $0.fileTrouble = error } }
        _ = await pauses.wait()
      }
    }
    return false
  }
}
