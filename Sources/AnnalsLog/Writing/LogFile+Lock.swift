import AnnalsFormat
import AnnalsFrames
import AnnalsModel
import AnnalsStorage

// The file lock, and what other processes did meanwhile.

extension LogFile {
  /// Takes the file lock and compares what is known here with the file: catch up or recover before
  /// appending, as the result says. The lock is kept until `unlock`.
  ///
  /// Throws `busy` if the lock was not free in time, `foreign` or `missing` if the path no longer
  /// leads to this store, `overwritten` if an older copy was written over it, `rewound` if
  /// transactions read here are gone. Then the lock is not held, except after `rewound`, which
  /// a recovery from the newest state leads out of.
  package func lock(_ wait: LockWait) throws(LogError) -> LogStanding {
    let generation = try withOpenState { (state) throws(LogError) in
      guard options.access == .writing else { throw .readOnly }
      precondition(!state.isLocked, "the lock is held")
      return state.replacement ?? state.generation
    }
    let locked = try lockNewest(generation, wait)
    return try state.withLock { (state) throws(LogError) in
      state.isLocked = true
      if locked !== state.generation {
        state.replacement = locked
        return .replaced
      }
      do throws(LogError) {
        let standing = try compare(&state)
        // The writer of what is there has released the lock: from now on only what is appended
        // under this lock may be removed again.
        state.acknowledged = state.end
        return standing
      } catch {
        if case .rewound = error { throw error }
        state.isLocked = false
        locked.file.unlock()
        throw error
      }
    }
  }

  /// Locks the file at the path, following replacements.
  private func lockNewest(
    _ known: LogGeneration, _ wait: LockWait
  ) throws(LogError) -> LogGeneration {
    var generation = known
    while true {
      let file = generation.file
      guard try wrapping({ try file.lock(.exclusive, wait: wait) }) else {
        throw .busy
      }
      do throws(LogError) {
        guard let other = try replacement(of: generation) else { return generation }
        file.unlock()
        generation = other
      } catch {
        file.unlock()
        throw error
      }
    }
  }

  /// The generation now at the path, opened, if it is another one.
  private func replacement(of generation: LogGeneration) throws(LogError) -> LogGeneration? {
    let place = try wrapping { try fileSystem.identity(of: path) }
    guard let place else { throw .missing }
    let own = try wrapping { try generation.file.identity() }
    if place == own { return nil }
    let other = try LogFile.openGeneration(at: path, in: fileSystem, options)
    guard other.header.store == store else { throw .foreign("it is another store") }
    guard other.header.generation > generation.header.generation else {
      throw .foreign("it is an older state of this store")
    }
    return other
  }

  /// The process that holds the lock; nil if nobody does, or the system does not say.
  package var lockHolder: LockHolder? {
    state.withLock { ($0.replacement ?? $0.generation).file.lockHolder() }
  }

  /// Releases the lock. With `.full`, call it only after the sync of what was appended under it.
  package func unlock() {
    state.withLock { state in
      guard state.isLocked else { return }
      state.isLocked = false
      state.generation.file.unlock()
      state.replacement?.file.unlock()
    }
  }

  /// Compares what is known here with the file, without the lock. Reads one directory entry and at
  /// most 4 KiB. Throws as `lock` does.
  package func standing() throws(LogError) -> LogStanding {
    let generation = try state.withLock { (state) throws(LogError) in
      if state.isClosed { throw .closed }
      return state.replacement ?? state.generation
    }
    let other = try replacement(of: generation)
    return try state.withLock { (state) throws(LogError) in
      if let other { state.replacement = other }
      if state.replacement != nil { return .replaced }
      return try compare(&state)
    }
  }

  /// Compares the file where the log ended when it was last read: the last frame must still be
  /// there, and another may follow. Throws `foreign` if another store was written over this one,
  /// `overwritten` if an older copy was.
  func compare(_ state: inout LogState) throws(LogError) -> LogStanding {
    let generation = state.generation
    let size = try generation.size()
    state.size = size
    state.synced.size = min(state.synced.size, size)
    let headerLength = FormatLimits.frameHeaderLength
    let from = state.end.previousOffset == 0 ? state.end.offset : state.end.previousOffset
    let isNear = state.end.offset - from <= 4096
    let start = isNear ? from : state.end.offset
    let bytes = try generation.read(Int(state.end.offset - start) + headerLength, at: start)
    if state.end.previousOffset != 0 {
      let isThere: Bool
      if isNear {
        isThere = bytes.withUnsafeBytes { state.isFrame($0, before: state.end) }
      } else {
        isThere = try state.hasFrame(before: state.end)
      }
      guard isThere else {
        try generation.requireOwnHeader()
        try requireKept(state)
        throw .rewound(lastShared: state.synced.head)
      }
    }
    let next = bytes.dropFirst(Int(state.end.offset - start))
    guard next.contains(where: { $0 != 0 }) else { return .current }
    let header = Array(next).withUnsafeBytes {
      try? FrameHeader.decode($0, at: state.end.offset, seed: generation.seed)
    }
    if let header, header.previousChecksum == state.end.previousChecksum { return .behind }
    // Bytes that are no frame: another process is writing, or died writing.
    state.isTailRepaired = false
    return .current
  }

  /// Repairs the tail after a crash, under the lock: makes the file's name durable, writes zeros
  /// over what is left of a transaction after the end and over torn padding, and writes again and
  /// syncs what nothing proves to have been synced.
  func repairTail(_ state: inout LogState) throws(LogError) {
    let generation = state.generation
    let slots = try state.rereadSlots()
    try state.requireNumbersLeft(slots.newest)
    try removeLeftovers(state)
    do {
      // The process that put the file in place may have died before the name was durable.
      if !state.isNameSynced { try syncName() }
      state.isNameSynced = true
      var hasWritten = false
      if try state.hasBytesBehindEnd() {
        if let reason = slots.doubt { throw LogError.damage(at: state.end.offset, reason) }
        try state.erase(upTo: state.size)
        hasWritten = true
      }
      if state.durableMark < state.end.offset {
        // Sync what a killed process left unsynced. Then compare the cache with the disk, since
        // after a failed sync the cache may call clean what was never written.
        try generation.file.sync()
        state.slot.synced = state.slot.seen
        let unproven = state.durableMark..<state.end.offset
        if try state.rewriteMissing(in: unproven) { hasWritten = true }
        if try state.clearPadding(in: unproven) { hasWritten = true }
      }
      if hasWritten {
        try generation.file.sync()
        state.slot.synced = state.slot.seen
      }
    } catch {
      throw state.ended(by: error)
    }
    state.noteSynced()
    state.unchecked = nil
    state.isTailRepaired = true
  }
}

extension LogFile {
  /// Makes the file's name durable, unless the directory may not be opened.
  private func syncName() throws(StorageError) {
    do {
      try fileSystem.syncDirectory(of: path)
    } catch  where error.isForbidden {
      return
    }
  }
}

extension LogState {
  /// Throws `numbersSpent` if the next write could get a number that readers refuse.
  fileprivate func requireNumbersLeft(_ newest: RootSlot?) throws(LogError) {
    let limit = FormatLimits.writerNumberLimit
    guard tables.head.number < Int64(limit) else { throw .numbersSpent("the last transaction") }
    guard tables.nextLargeValueNumber < limit else { throw .numbersSpent("the last large value") }
    guard newest?.sequence ?? 0 < limit else { throw .numbersSpent("the newest root slot") }
  }

  /// Writes zeros over nonzero padding after the payloads of these frames. No checksum covers it,
  /// and a sector torn by a power cut may leave anything there. Returns whether anything was
  /// written.
  func clearPadding(in range: Range<UInt64>) throws -> Bool {
    let start = ChainPoint(offset: range.lowerBound, previousChecksum: nil)
    var walk = FrameWalk(generation, from: start, limit: range.upperBound)
    var hasWritten = false
    while case .frame(let frame) = try walk.step() {
      guard try wrapping({ try walk.hasBytesBehindPayload(frame) }) else { continue }
      let zeros = ContiguousArray<UInt8>(repeating: 0, count: Int(frame.end - frame.payloadEnd))
      try zeros.withUnsafeBytes { try generation.file.write($0, at: frame.payloadEnd) }
      hasWritten = true
    }
    return hasWritten
  }

  /// Whether any byte after the end is nonzero.
  func hasBytesBehindEnd() throws(LogError) -> Bool {
    var offset = end.offset
    while offset < size {
      let bytes = try generation.read(Int(min(size - offset, 1 << 20)), at: offset)
      if bytes.isEmpty { return false }
      if !bytes.withUnsafeBytes({ $0.isZero }) { return true }
      offset += UInt64(bytes.count)
    }
    return false
  }
}
