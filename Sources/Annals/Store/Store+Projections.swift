import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsStorage

extension Store {
  /// Registers a projection for this opening: reading it continues where the last reading ended,
  /// checkpoints save it, rewrites keep its saved state, and `verify()` compares it. Reads nothing
  /// yet. Registering a type again does nothing. Traps for two types with one name, and for an
  /// invalid name or version.
  public func register<P: Projection>(_ type: P.Type) { _ = projections.slot(of: type) }

  /// The value of a projection at the newest transaction acknowledged here. Registers the type.
  ///
  /// Costs applying the transactions since it was last read; the first time in an opening, those
  /// since its saved state, or all of them. One thread at a time updates a projection; others wait
  /// for it. Copying the value is up to the type.
  ///
  /// Throws `.projectionFailed` if the projection's own code threw, see `AnnalsError.thrown`;
  /// `.pruned` if it needs history that was pruned; and as reading history does. The store is
  /// unchanged.
  public func projection<P: Projection>(_ type: P.Type) throws(AnnalsError) -> P {
    try projections.slot(of: type).newest()
  }

  /// The value of a projection at a position: for example beside a snapshot, `at: snapshot.token`.
  ///
  /// As `projection(_:)` if nothing newer was read yet; otherwise costs applying the transactions
  /// since the last state saved before the position. Also throws as `snapshot(at:)` does.
  public func projection<P: Projection>(
    _ type: P.Type, at position: any HistoryPosition
  ) throws(AnnalsError) -> P {
    let version = version
    return try projections.slot(of: type).value(
      at: try number(at: position, in: version), in: version)
  }

  /// As `projection(_:)`, without blocking the task's thread: a projection that has much history to
  /// catch up with does so on a thread of its own.
  ///
  /// A task that is cancelled before that begins gets `.cancelled`. The projections of a store are
  /// brought up to date one after the other.
  public func projection<P: Projection>(_ type: P.Type) async throws(AnnalsError) -> P {
    try await readOnProjectionThread { store throws(AnnalsError) in try store.projection(type) }
  }

  /// As `projection(_:at:)`, without blocking the task's thread; otherwise as the other
  /// asynchronous form.
  public func projection<P: Projection>(
    _ type: P.Type, at position: any HistoryPosition
  ) async throws(AnnalsError) -> P {
    try await readOnProjectionThread { store throws(AnnalsError) in
      try store.projection(type, at: position)
    }
  }

  private func readOnProjectionThread<P: Projection>(
    _ read: @escaping @Sendable (Store) throws(AnnalsError) -> P
  ) async throws(AnnalsError) -> P {
    let call = WaitingCall<P>(
      cancellation: AnnalsError(.cancelled, "the task was cancelled before it read anything"))
    do {
      return try await call.run(on: projectionThread.running()) { [self] in
        try call.begin()
        return try read(self)
      }
    } catch {
      throw AnnalsError.translated(error)
    }
  }

  /// Rebuilds each registered projection from the history and compares it: with the kept and saved
  /// values, with the value made from the newest state alone, and with itself after encoding and
  /// decoding.
  ///
  /// Reads the history once for all of them. Throws if the history cannot be read.
  func verifyProjections() throws(AnnalsError) -> [StoreFinding] {
    let slots = projections.all
    guard !slots.isEmpty else { return [] }
    let version = version
    var rebuilds: [any AnyProjectionRebuild] = []
    for slot in slots { rebuilds.append(try slot.makeRebuild(in: version)) }
    var cursor = try History(
      version: version, after: version.base.number, through: version.head.number,
      condition: .always
    ).makeCursor()
    while let transaction = try cursor.next() {
      for index in rebuilds.indices { rebuilds[index].apply(transaction) }
    }
    var findings: [StoreFinding] = []
    for index in rebuilds.indices { findings += try rebuilds[index].compareAtEnd(in: version) }
    return findings
  }
}
