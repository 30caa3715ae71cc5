import Annals
import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import Foundation

// How a replica leaves a branch:
//
// 1. A file that goes on with the log's history is made beside, whole: FILE.rejoin.
// 2. The branch is written to the list of branches.
// 3. The file gets its second name, FILE.branch-N-DIGEST.
// 4. FILE.rejoin is renamed over FILE.
//
// There is a file at FILE at each moment, and the branch has a name at each moment. After a crash
// before step 4 the next opening finds the branch again, and begins again.

/// A file that the log has left behind.
struct Departure: Sendable {
  /// The file, whatever name it has.
  var identity: FileIdentity
  /// Its store and its newest transaction.
  var token: Token
  /// The digest of that.
  var digest: Digest
  /// The transaction that its history begins with.
  var first: Int64
  /// The newest transaction that it has in common with the log, if known.
  var lastShared: Int64?
}

extension ReplicaFile {
  /// The file that will take the place of this one.
  var successor: ReplicaFile {
    ReplicaFile(
      location: StoreLocation(
        fileSystem: location.fileSystem, path: location.path + ".rejoin",
        commitRun: location.commitRun),
      log: log, options: options, environment: environment)
  }

  /// Puts the successor in the file's place, and keeps the file beside. Does nothing if another
  /// file is there meanwhile. The replica is closed, so that nobody writes.
  ///
  /// Throws `.otherStore` if the log has another store, `.busy` if somebody holds the file's lock;
  /// and as making the file does. Then the file is where it was.
  func leave(_ departure: Departure) async throws {
    let (fileSystem, path) = (location.fileSystem, location.path)
    let successor = successor
    let shared: Int64?
    do {
      try await successor.make(like: path)
      shared = try successor.lastShared(with: departure, original: path)
    } catch {
      try? successor.clear()
      throw error
    }
    let old = try AnnalsError.translating { try fileSystem.open(path, for: .writing) }
    defer { old.close() }
    try AnnalsError.translating {
      guard try old.lock(.exclusive, wait: .until(.now + options.store.lockTimeout)) else {
        throw AnnalsError(
          .busy, "another process is writing to \(path), which the shared log has left behind")
      }
      guard try old.identity() == departure.identity,
        try fileSystem.identity(of: path) == departure.identity
      else { return }
      let name = try nameBeside(departure, shared)
      let last = departure.token.number
      let first = min(shared.map { $0 + 1 } ?? departure.first, last)
      let branch = LeftBranch(
        path: name, lastShared: shared, numbers: first...last, token: departure.token,
        date: Date(environment.clock()))
      try BranchList(fileSystem: fileSystem, path: path).add(branch)
      if try fileSystem.identity(of: name) == nil { try fileSystem.link(path, to: name) }
      try fileSystem.syncDirectory(of: path)
      try fileSystem.rename(successor.location.path, over: path)
      try fileSystem.syncDirectory(of: path)
    }
  }

  /// A name for the branch that is free, or that the branch has already.
  private func nameBeside(_ departure: Departure, _ shared: Int64?) throws -> String {
    let digest = departure.digest.description.prefix(8)
    let name = location.path + ".branch-" + (shared.map { "\($0)-" } ?? "") + digest
    var candidate = name
    var count = 1
    while let other = try location.fileSystem.identity(of: candidate) {
      if other == departure.identity { break }
      count += 1
      candidate = "\(name)-\(count)"
    }
    return candidate
  }

  /// The newest transaction that this file, which came from the log, and the branch at `original`
  /// have in common; nil if neither has its digest any more. Throws `.otherStore`.
  private func lastShared(with departure: Departure, original: String) throws -> Int64? {
    let theirs = try Store(location, options: .readOnly)
    defer { try? theirs.close() }
    guard theirs.token.store == departure.token.store else {
      throw ReplicationError.otherStore(theirs.token.store, departure.token.store)
    }
    if let known = departure.lastShared { return known }
    let ours = try Store(
      StoreLocation(fileSystem: location.fileSystem, path: original), options: .readOnly)
    defer { try? ours.close() }
    let (a, b) = (theirs.version, ours.version)
    var low = max(a.base.number, b.base.number)
    var high = min(a.head.number, b.head.number)
    let least = low
    while low < high {
      let middle = (low + high + 1) / 2
      let digest = try a.place(of: middle)?.digest
      let isShared = try digest != nil && digest == b.place(of: middle)?.digest
      if isShared { low = middle } else { high = middle - 1 }
    }
    return low > least ? low : nil
  }
}

extension ReplicaFile {
  /// Removes what an earlier attempt has left of a successor. Throws `.busy` if somebody is making
  /// one.
  func clear() throws(AnnalsError) {
    let fileSystem = location.fileSystem
    try AnnalsError.translating {
      for path in [location.path + ".new", location.path] {
        guard try fileSystem.identity(of: path) != nil else { continue }
        let file = try fileSystem.open(path, for: .writing)
        defer { file.close() }
        guard try file.lock(.exclusive, wait: .none) else {
          throw AnnalsError(.busy, "another process is making \(path)")
        }
        try fileSystem.remove(path)
      }
    }
  }

  /// The file, whatever name it has.
  func identity() throws(AnnalsError) -> FileIdentity? {
    try AnnalsError.translating { try location.fileSystem.identity(of: location.path) }
  }
}

extension Replica {
  /// What is known of a file that could not be opened as a replica, if it is to be left; nil if it
  /// is not. `identity` is that of the file before it was opened.
  ///
  /// Where the file has all that is shared as the log has it, makes the successor of it.
  func departure(
    after error: any Error, _ identity: FileIdentity?, of file: ReplicaFile
  ) async throws -> Departure? {
    guard options.onBranch == .keepBeside, let error = error as? ReplicationError,
      error.code == .branched, let identity, try file.identity() == identity
    else { return nil }
    let version = store.version
    let place = try currentPlace()
    let successor = file.successor
    try successor.clear()
    if let shared = error.lastShared, shared > version.base.number, shared < place.number {
      try? await blocking { [writer] in
        // Values that an erasure after it has taken are in the log's history.
        guard try version.place(of: shared) != nil, try version.erasures(after: shared).isEmpty
        else { return }
        try writer.replay(
          version, to: successor.location.path, at: shared, flatten: false, store: version.store)
      }
    }
    return Departure(
      identity: identity, token: store.token, digest: place.digest,
      first: version.base.number + 1, lastShared: error.lastShared)
  }
}
