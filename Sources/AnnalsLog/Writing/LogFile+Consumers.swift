import AnnalsFormat
import AnnalsModel
import AnnalsStorage

// Consumers: what becomes of them is written with the next transaction or checkpoint, or alone. How
// much history is kept is written alone. FORMAT.md, "Consumers" and "Retention".

extension LogFile {
  /// How often advances are written alone, at most.
  private static let leastPause: UInt64 = 1_000_000

  /// The consumers, as far as is known here: those in the file, and what waits to be written.
  package var consumers: ConsumerTable {
    state.withLock { state in
      var table = state.tables.consumers
      for consumer in state.changedConsumers { table.apply(.set(consumer)) }
      return table
    }
  }

  /// The consumer of a name, as far as is known here; nil if there is none.
  package func consumer(_ name: String) -> ConsumerState? {
    state.withLock { state in
      guard let known = state.tables.consumers[name] else { return nil }
      return state.advances.changed(known, head: state.tables.head.number)
    }
  }

  /// Whether advances wait to be written.
  package var hasPendingAdvances: Bool { state.withLock { !$0.advances.isEmpty } }

  /// Notes what a consumer has seen, to be written with the next transaction. Returns whether a
  /// second has gone by since any were written, so that it should be written alone.
  ///
  /// Throws `closed`, `poisoned` or `readOnly` if it never can be.
  package func note(_ advance: ConsumerAdvance) throws(LogError) -> Bool {
    try state.withLock { (state) throws(LogError) in
      try state.requireOpen()
      guard options.access == .writing else { throw .readOnly }
      state.advances.note(advance)
      guard let written = state.advances.written else { return true }
      let pause = advance.lastSeen.microseconds.subtractingReportingOverflow(written.microseconds)
      // A clock that went back says nothing.
      return pause.overflow || pause.partialValue.magnitude >= LogFile.leastPause
    }
  }

  /// Appends what becomes of consumers: the advances that wait, and behind them other changes. Not
  /// synced. Returns whether anything was appended.
  ///
  /// The lock is held and the log stands at the file's end. Throws as `begin` does, and `storage`
  /// if there is no space: then nothing was appended.
  @discardableResult
  package func append(consumers more: [ConsumerChange] = []) throws(LogError) -> Bool {
    try state.withLock { (state) throws(LogError) in
      let changes = state.dueConsumerChanges + more
      guard !changes.isEmpty else {
        state.settleAdvances()
        return false
      }
      try begin(&state)
      state.stage(changes)
      try finishAlone(&state)
      state.takeStaged(changes)
      return true
    }
  }

  /// How much history is kept.
  package var retention: RetentionPolicy { state.withLock { $0.tables.retention } }

  /// Appends how much history is kept from now on. Not synced.
  ///
  /// The lock is held and the log stands at the file's end. Throws as `begin` does, and `storage`
  /// if there is no space: then nothing was appended.
  package func append(_ retention: RetentionPolicy) throws(LogError) {
    try state.withLock { (state) throws(LogError) in
      try begin(&state)
      state.announce(.retention)
      state.payload.removeAll(keepingCapacity: true)
      RetentionCodec.encode(retention, into: &state.payload)
      state.appendStaged(.retention)
      try finishAlone(&state)
      state.takeAnnounced(.retention)
      state.tables.absorb(retention)
    }
  }

  /// Writes frames that are no transaction's, and stands behind them.
  private func finishAlone(_ state: inout LogState) throws(LogError) {
    do throws(LogError) {
      try state.writeFrames()
    } catch .storage(let error) {
      abort(&state)
      throw .storage(error)
    }
    state.end = ChainPoint(
      offset: state.frames.offset, previousChecksum: state.frames.previousChecksum,
      previousOffset: state.lastFrameOffset)
    state.transaction = nil
    state.kept = state.end
    if options.durability == .deferred { state.acknowledged = state.end }
  }
}

extension LogState {
  /// The consumers that the waiting advances change.
  fileprivate var changedConsumers: [ConsumerState] {
    advances.isEmpty ? [] : advances.changes(of: tables.consumers, head: tables.head.number)
  }

  /// What the waiting advances make of the consumers.
  var dueConsumerChanges: [ConsumerChange] { changedConsumers.map { .set($0) } }

  /// Puts frames with these changes behind those of the transaction in the making, and before the
  /// first of a file the announcement.
  mutating func stage(_ changes: [ConsumerChange]) {
    transaction?.consumers = changes
    guard !changes.isEmpty else { return settleAdvances() }
    announce(.consumers)
    for change in changes {
      payload.removeAll(keepingCapacity: true)
      ConsumerCodec.encode(change, into: &payload)
      appendStaged(.consumerChange)
    }
  }

  /// Puts the announcement of a feature that the file does not have behind the frames.
  fileprivate mutating func announce(_ feature: Features) {
    if features.contains(feature) { return }
    payload.removeAll(keepingCapacity: true)
    feature.append(to: &payload)
    appendStaged(.featureAnnouncement)
  }

  /// Takes in a feature whose announcement was written. One that the header has was not announced.
  fileprivate mutating func takeAnnounced(_ feature: Features) {
    if !features.contains(feature) { tables.announce(feature) }
  }

  fileprivate mutating func appendStaged(_ kind: FrameKind) {
    lastFrameOffset = frames.offset
    payload.withUnsafeBytes { _ = frames.append(kind: kind, flags: .skippable, payload: $0) }
  }

  /// Takes in changes whose frames were written.
  mutating func takeStaged(_ changes: [ConsumerChange]) {
    takeAnnounced(.consumers)
    for change in changes { tables.absorb(change) }
    settleAdvances()
  }

  /// Forgets the advances that change nothing any more.
  fileprivate mutating func settleAdvances() {
    advances.settle(tables.consumers, head: tables.head.number)
  }
}
