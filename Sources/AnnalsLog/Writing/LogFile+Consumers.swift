import AnnalsFormat
import AnnalsModel
import AnnalsStorage

// Side records. Advances of consumers go with the next transaction or checkpoint, or alone; other
// records are written alone. See FORMAT.md, "Consumers" and "Retention".

extension LogFile {
  /// The least time between two writes of advances alone, in microseconds.
  private static let leastPause: UInt64 = 1_000_000

  /// What side records add up to as known here: those in the file, and the pending advances of
  /// consumers.
  package var side: SideState {
    state.withLock { state in
      var side = state.tables.side
      for consumer in state.changedConsumers { side.consumers.apply(.set(consumer)) }
      return side
    }
  }

  /// The consumers as known here: those in the file, with their pending advances.
  package var consumers: ConsumerTable { side.consumers }

  /// The named consumer as known here; nil if there is none.
  package func consumer(_ name: String) -> ConsumerState? {
    state.withLock { state in
      guard let known = state.tables.side.consumers[name] else { return nil }
      return state.advances.changed(known, head: state.tables.head.number)
    }
  }

  /// Whether advances wait to be written.
  package var hasPendingAdvances: Bool { state.withLock { !$0.advances.isEmpty } }

  /// Notes that a consumer has advanced, to be written with the next transaction. Returns whether
  /// none was written for a second, so that the caller should write it alone.
  ///
  /// Throws `closed`, `poisoned` or `readOnly` if it can never be written.
  package func note(_ advance: ConsumerAdvance) throws(LogError) -> Bool {
    try withOpenState { (state) throws(LogError) in
      guard options.access == .writing else { throw .readOnly }
      state.advances.note(advance)
      guard let written = state.advances.written else { return true }
      let pause = advance.lastSeen.microseconds.subtractingReportingOverflow(written.microseconds)
      // A clock that went back tells nothing.
      return pause.overflow || pause.partialValue.magnitude >= LogFile.leastPause
    }
  }

  /// Appends consumer changes: first the pending advances, then `more`. Does not sync. Returns
  /// whether anything was appended.
  ///
  /// The caller holds the lock, and the log stands at the file's end. Throws as `begin` does, and
  /// `storage` if there is no space: then nothing was appended.
  @discardableResult
  package func append(consumers more: [ConsumerChange] = []) throws(LogError) -> Bool {
    try state.withLock { (state) throws(LogError) in
      let changes = state.dueConsumerChanges + more
      guard !changes.isEmpty else {
        state.dropWrittenAdvances()
        return false
      }
      try begin(&state)
      state.stage(changes)
      try commitAlone(&state)
      state.adoptStaged(changes)
      return true
    }
  }

  /// The retention policy.
  package var retention: RetentionPolicy { state.withLock { $0.tables.side.retention } }

  /// Appends a side record other than of a consumer. Does not sync.
  ///
  /// The caller holds the lock, and the log stands at the file's end. Throws as `begin` does, and
  /// `storage` if there is no space: then nothing was appended.
  package func append(_ record: SideRecord) throws(LogError) {
    try state.withLock { (state) throws(LogError) in
      try begin(&state)
      state.announce(record.kind.feature)
      state.appendFrame(record.kind) { record.encode(into: &$0) }
      try commitAlone(&state)
      state.adoptAnnounced(record.kind.feature)
      state.tables.absorb(record)
    }
  }

  /// Writes the gathered frames, which belong to no transaction, and advances the end past them.
  private func commitAlone(_ state: inout LogState) throws(LogError) {
    try writeFrames(&state)
    state.transaction = nil
    advanceEnd(&state)
  }
}

extension LogState {
  /// The consumers that the pending advances change.
  fileprivate var changedConsumers: [ConsumerState] {
    advances.isEmpty ? [] : advances.changes(of: tables.side.consumers, head: tables.head.number)
  }

  /// The pending advances as consumer changes.
  var dueConsumerChanges: [ConsumerChange] { changedConsumers.map { .set($0) } }

  /// Appends frames with these changes to those of the open transaction. Before a file's first
  /// consumer change goes the announcement of the feature.
  mutating func stage(_ changes: [ConsumerChange]) {
    transaction?.consumers = changes
    guard !changes.isEmpty else { return dropWrittenAdvances() }
    announce(.consumers)
    for change in changes {
      appendFrame(.consumerChange) { ConsumerCodec.encode(change, into: &$0) }
    }
  }

  /// Adds a feature to the tables once its announcement is written. One that is in the header was
  /// not announced.
  fileprivate mutating func adoptAnnounced(_ feature: Features) {
    if !features.contains(feature) { tables.announce(feature) }
  }

  /// Adds changes to the tables once their frames are written.
  mutating func adoptStaged(_ changes: [ConsumerChange]) {
    adoptAnnounced(.consumers)
    for change in changes { tables.absorb(.consumerChange(change)) }
    dropWrittenAdvances()
  }

  /// Drops the advances that no longer change anything.
  fileprivate mutating func dropWrittenAdvances() {
    advances.dropWritten(tables.side.consumers, head: tables.head.number)
  }
}
