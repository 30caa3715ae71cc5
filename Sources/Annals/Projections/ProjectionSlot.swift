import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import Foundation
import Synchronization

/// One projection's kept value, and the turn to update it.
///
/// The value is moved out for a turn, so that `apply` changes it in place; other threads wait.
final class ProjectionSlot<Value: Projection>: AnyProjectionSlot {
  /// A value, and the position that it is as of.
  struct Kept: Sendable {
    var value: Value
    var token: Token
    /// The generation of the file that it was started with.
    var generation: UInt64
  }

  private struct Content: Sendable {
    var kept: Kept?
    var isTaken = false

    /// Moves the kept value out for a turn; nil if another thread has it.
    mutating func moveOut() -> Content? {
      guard !isTaken else { return nil }
      defer { self = Content(isTaken: true) }
      return Content(kept: kept.take())
    }
  }

  let name: String
  let version: Int64
  private let store: KeptProjections
  private let content = Monitor(Content())
  private let unsaved = Atomic<Int>(0)

  init(_ store: KeptProjections, name: String, version: Int64) {
    self.store = store
    self.name = name
    self.version = version
  }

  /// The value at the newest published transaction.
  func newest() throws(AnnalsError) -> Value {
    try withTurn { kept throws(AnnalsError) in
      // Read when this thread has its turn: no older than the kept value.
      let version = store.head.published
      return try level(&kept, with: version.head.number, in: version)
    }
  }

  /// The value at a transaction whose state the version can provide.
  func value(at number: Int64, in version: StoreVersion) throws(AnnalsError) -> Value {
    let found = try withTurn { kept throws(AnnalsError) -> Value? in
      // A newer kept value stays for readers of the present.
      if let kept, kept.token.number > number { return nil }
      return try level(&kept, with: number, in: version)
    }
    if let found { return found }
    store.barred.requireOutside("reading a projection")
    var own: Kept?
    return try level(&own, with: number, in: version)
  }

  var unsavedChanges: Int { unsaved.load(ordering: .relaxed) }

  func noteSaved() { unsaved.store(0, ordering: .relaxed) }

  func image() throws(AnnalsError) -> ProjectionImage? {
    try image(taking: takeTurn())
  }

  func imageIfFree() throws(AnnalsError) -> ProjectionImage? {
    guard let turn = takeTurnIfFree() else { return nil }
    guard turn.kept != nil else {
      end(turn)
      return nil
    }
    return try image(taking: turn)
  }

  private func image(taking turn: Content) throws(AnnalsError) -> ProjectionImage? {
    var version = store.head.published
    let kept = try using(turn) { kept throws(AnnalsError) in
      version = store.head.published
      _ = try level(&kept, with: version.head.number, in: version)
      return kept
    }
    guard let kept else { return nil }
    return try image(of: kept, in: version)
  }

  /// The bytes of a value; nil if they are saved already or cannot be.
  private func image(of kept: Kept, in version: StoreVersion) throws(AnnalsError)
    -> ProjectionImage?
  {
    let saved = version.view.savedProjections.first {
      $0.isNamed(name) && $0.version == self.version && $0.number == kept.token.number
    }
    guard saved == nil else {
      noteSaved()
      return nil
    }
    let state: Data
    do {
      state = try store.barred.run { try kept.value.encoded() }
    } catch {
      throw .projection(name, "while it was encoded", error)
    }
    guard state.count <= SavedProjection.maximumState else { return nil }
    return ProjectionImage(
      name: name, version: self.version, position: kept.token, generation: version.view.generation,
      state: ContiguousArray(state))
  }

  /// The kept value, if it belongs to the version's history.
  func kept(in version: StoreVersion) throws(AnnalsError) -> Kept? {
    try withTurn { kept throws(AnnalsError) in
      guard let kept, try version.continues(kept) else { return nil }
      return kept
    }
  }

  /// Waits for the turn and runs `body` on the kept value.
  private func withTurn<R>(
    _ body: (inout Kept?) throws(AnnalsError) -> R
  ) throws(AnnalsError) -> R {
    try using(takeTurn(), body)
  }

  /// Runs `body` on the kept value in this turn, then ends the turn.
  private func using<R>(
    _ turn: consuming Content, _ body: (inout Kept?) throws(AnnalsError) -> R
  ) throws(AnnalsError) -> R {
    var kept = turn.kept.take()
    defer { end(Content(kept: kept)) }
    return try body(&kept)
  }

  /// Waits for the turn; returns the kept value with it.
  private func takeTurn() -> Content {
    store.barred.requireOutside("reading a projection")
    return content.wait { $0.moveOut() }
  }

  private func takeTurnIfFree() -> Content? {
    content.withLock { $0.moveOut() }
  }

  private func end(_ turn: Content) {
    content.withLock { $0 = Content(kept: turn.kept) }
  }

  /// Updates the kept value to a transaction not before it, and returns it. If the projection
  /// fails, nothing is kept.
  private func level(
    _ kept: inout Kept?, with number: Int64, in version: StoreVersion
  ) throws(AnnalsError) -> Value {
    if let old = kept, try !version.continues(old) { kept = nil }
    if kept == nil { kept = try start(atOrBefore: number, in: version) }
    try advance(&kept, to: number, in: version)
    guard let kept else { preconditionFailure("a projection was brought level with nothing") }
    return kept.value
  }

  /// A value to start from: the one saved last, or the base's.
  private func start(
    atOrBefore number: Int64, in version: StoreVersion
  ) throws(AnnalsError) -> Kept {
    let saved = version.view.savedProjection(
      name, version: self.version, atOrBefore: number)
    // A saved value that cannot be read or decoded counts as missing; `verify` reports it.
    if let saved, let value = try? value(of: saved, in: version) {
      return Kept(
        value: value, token: try version.token(of: saved.number),
        generation: version.view.generation)
    }
    return try fromBase(in: version)
  }

  /// Decodes the saved value.
  func value(of saved: SavedProjection, in version: StoreVersion) throws -> Value {
    let state = try version.view.state(of: saved)
    return try store.barred.run { try Value(encoded: Data(state)) }
  }

  /// The value at the version's base.
  func fromBase(in version: StoreVersion) throws(AnnalsError) -> Kept {
    let base = version.base.number
    let token = Token(store: version.store, number: base, opening: 0)
    let generation = version.view.generation
    guard base > 0 else {
      return Kept(value: store.barred.run { Value() }, token: token, generation: generation)
    }
    let value = try value(from: try version.snapshot(at: base), "at the base")
    guard let value else {
      var error = version.pruned(1)
      error.message =
        "the projection \"\(name)\" needs the whole history, and nothing of it is saved: "
        + error.message
      throw error
    }
    return Kept(value: value, token: token, generation: generation)
  }

  func requireMakeable(in version: StoreVersion) throws(AnnalsError) {
    _ = try fromBase(in: version)
  }

  /// The value that the projection makes from a state alone; nil if it cannot.
  func value(from snapshot: Snapshot, _ place: String) throws(AnnalsError) -> Value? {
    let snapshot = snapshot.with(clock: store.clock)
    do {
      return try store.barred.run { try Value(base: snapshot) }
    } catch {
      throw .projection(name, "\(place), transaction \(snapshot.number)", error)
    }
  }

  /// Applies the transactions up to one. If reading them throws, what was applied is kept; if the
  /// projection throws, nothing is.
  private func advance(
    _ kept: inout Kept?, to number: Int64, in version: StoreVersion
  ) throws(AnnalsError) {
    guard var current = kept, current.token.number < number else { return }
    var cursor = try History(
      version: version, after: current.token.number, through: number, condition: .always
    ).makeCursor()
    // From here on there is one reference, so that the value is changed in place.
    kept = nil
    try store.barred.run { () throws(AnnalsError) in
      while true {
        let next: Transaction?
        do throws(AnnalsError) {
          next = try cursor.next()
        } catch {
          kept = current
          throw error
        }
        guard let next else { break }
        try apply(next, to: &current.value)
        current.token = next.token
        unsaved.wrappingAdd(1 + next.changes.count, ordering: .relaxed)
      }
    }
    kept = current
  }

  /// Lets the projection apply one transaction, with the thread barred.
  func apply(_ transaction: Transaction, to value: inout Value) throws(AnnalsError) {
    do {
      try value.apply(transaction)
    } catch {
      throw .projection(name, "at transaction \(transaction.number)", error)
    }
  }

  func makeRebuild(in version: StoreVersion) throws(AnnalsError) -> any AnyProjectionRebuild {
    try ProjectionRebuild(self, in: version)
  }

  /// Runs the projection's code with the thread barred.
  func barring<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    try store.barred.run(body)
  }
}

extension StoreVersion {
  /// Whether history up to here continues from the kept value.
  fileprivate func continues<Value>(
    _ kept: ProjectionSlot<Value>.Kept
  ) throws(AnnalsError) -> Bool {
    guard view.mayContinue(from: kept.generation) else { return false }
    let token = kept.token
    do throws(AnnalsError) {
      _ = try number(after: token)
      return true
    } catch {
      guard error.isMissingHistory else { throw error }
      return false
    }
  }
}
