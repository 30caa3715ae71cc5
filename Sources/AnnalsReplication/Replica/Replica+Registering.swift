import Annals
import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import Foundation

// What this replica says of itself in the log, so that the log keeps what it needs.
//
// - It registers before it first reads on in the log, with the place that it has, and before it
//   gets a snapshot, with the place of that.
// - What is registered is never ahead of what the file has, so the log keeps rather too much.
// - Nothing rests on it: whoever registers too late, or not at all, finds that the log begins
//   after what it needs, and takes a snapshot.

extension Replica {
  /// How a registration of this replica's file is made.
  var registrar: Registrar {
    Registrar(
      log: log, fileSystem: writer.log.fileSystem, path: writer.log.path, options: options,
      environment: environment)
  }

  /// What the replica has to say now; nil if it does not register.
  func currentRegistration() async throws -> ReplicaRegistration? {
    guard options.lease != nil else { return nil }
    let place = try currentPlace()
    let (getting, isMaking) = content.withLock { ($0.fetching, $0.isMaking) }
    return try await blocking { [registrar, writer] in
      guard var registration = try registrar.registration(at: place) else { return nil }
      registration.fetching = getting
      registration.isMaking = isMaking
      let waitedFor = writer.consumers.filter { $0.isBlocking && $0.isLeaseRunning }
      if let last = waitedFor.min(by: { $0.token.number < $1.token.number }) {
        registration.consumer = ReplicaRegistration.Consumer(
          name: last.name, sequence: place.sequence(of: last.token.number),
          lastSeen: last.lastSeen)
      }
      return registration
    }
  }

  /// Registers the replica as it is now. Throws `.unavailable`, `.refused`.
  func register(_ retries: inout Retries) async throws {
    guard let new = try await currentRegistration() else { return }
    try await registrar.register(new, &retries)
    content.withLock { $0.upkeep.registration = new }
  }

  /// Registers the replica if it has come further, or its lease has passed by a third. What fails
  /// is told in `status`; the caller goes on.
  func renewRegistration(_ retries: inout Retries) async {
    do {
      guard let new = try await currentRegistration() else { return }
      if let old = content.withLock({ $0.upkeep.registration }) {
        let isSame =
          new.passed == old.passed && new.sequence == old.sequence
          && new.isMaking == old.isMaking && new.fetching == old.fetching
        let age = new.renewed.timeIntervalSince(old.renewed)
        if isSame, !new.isMaking, new.fetching == nil, abs(age) < old.lease / 3 { return }
      }
      try await registrar.register(new, &retries)
      content.withLock { content in
        content.upkeep.registration = new
        if content.upkeep.failureCount == 0 { content.upkeep.failure = nil }
      }
    } catch let error as ReplicationError where error.code == .unavailable {
      // The outage tells; a file that cannot be reached needs no log.
    } catch {
      content.withLock { $0.upkeep.failure = "the replica could not be registered: \(error)" }
    }
  }

  /// Registers a replica that does not follow, if it is due.
  func registerProgress() async {
    let old = content.withLock { $0.upkeep.registration }
    guard !options.follows, let old else { return }
    let age = Date(environment.clock()).timeIntervalSince(old.renewed)
    guard abs(age) >= options.upkeep / .seconds(1) else { return }
    var once = Retries(options, environment, isOnce: true)
    await renewRegistration(&once)
  }

  /// Registers the replica each time that it is due, until it is closed.
  func startRegistering() {
    guard options.lease != nil else { return }
    let task = Task { [weak self, interval = options.upkeep] in
      while (try? await Task.sleep(for: interval)) != nil {
        guard let self else { return }
        _ = try? await self.blocking { [store = self.store] in try store.refresh() }
        var once = Retries(self.options, self.environment, isOnce: true)
        await self.renewRegistration(&once)
      }
    }
    content.withLock { $0.registering = task }
  }

  /// Removes the consumers that a new replica has from the one that put the snapshot: each replica
  /// has its own.
  func forgetOthersConsumers() async throws {
    try await blocking { [registrar, store] in
      guard try registrar.hasOthersConsumers() else { return }
      for consumer in store.consumers { try store.removeConsumer(consumer.name) }
      try registrar.note(othersConsumers: false)
    }
  }
}

extension ReplicaPlace {
  /// The sequence of the record with a transaction of the same file; 0 for one from before the log.
  func sequence(of number: Int64) -> UInt64 {
    let distance = self.number - number
    return distance < 0 ? sequence : sequence - min(sequence, UInt64(distance))
  }
}
