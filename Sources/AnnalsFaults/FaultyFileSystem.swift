// The fault model: what a disk and its file system may do to a store, and what they may not.
//
// Power may fail at any *point*: while a file is created, written, allocated, truncated or synced,
// or a name is linked, renamed or removed, or a directory is synced. Then:
// 1. What a sync that returned has covered is there: the bytes of the file as they were when the
//    sync was called, and, for names, those of the directory.
// 2. Of what came after it, each change of a file may be there or not, in any order: none of them,
//    a prefix, all but one, one alone, all. The change in flight at the point is one of them.
// 3. The last write may be there in part: its first or its last sectors (512 bytes), all but one
//    sector, or with the bytes that it wrote into its last sector garbled. Bytes that nobody was
//    writing stay as they are, even in the sector of one that was written (drives write sectors
//    whole or not at all).
// 4. The length of a file may be there without the bytes: it reads as zeros where a lost write
//    should be (file systems write lengths and data apart).
// 5. The names of a directory change in order: a prefix of the changes is there (file systems keep
//    them in a journal). A name may be there without the bytes of its file, and bytes that were
//    synced may lie in a file whose name is not there. Syncing a file does not sync its name.
// A process that is killed loses nothing that it has written: all changes are there.
//
// Without a power cut, any call may fail with any error number, before, after or in the middle of
// its effect; a disk may be full; a sync may fail, after which the cache shows the new bytes and
// calls them clean: later syncs return without writing them, until they are written anew, and it is
// open whether the disk holds them, until they are read past the cache: it does not. Or the cache
// drops them, and shows the old ones. On request the next sync of every other open file of it fails
// then, too, once, as Linux has it; without, only the call that met the error is told.
//
// EINTR and transfers of fewer bytes than were asked for do not get here: AnnalsStorage/Posix goes
// on after both before it answers (`transfer`, `retrying`), so that no error of that kind is for
// the layers above to see. PosixFileSystemTests gives those functions such answers, and
// InterruptedCallsTests interrupts the calls of real processes.
//
// Not modelled: bytes that change by themselves (the damage tests do that to whole files), sectors
// that cannot be read, and drives that lie about syncs.

import AnnalsStorage
import SystemPackage

/// A file system in memory that fails on request, and tells what a power cut would leave.
///
/// A test runs its work once to count the points, and then once for each point with `crash(at:)`.
/// At that point the power fails: the call throws ENODEV, and so does every later one.
/// `forEachSurvivor` then hands out a file system for every state that the fault model permits.
package final class FaultyFileSystem: FileSystem {
  let disk: Locked<FaultyDisk>
  let syncDelay: Duration
  let watches = WatchList()
  /// What the next sync does before it has an effect.
  let duringNextSync = Locked<(@Sendable () -> Void)?>(nil)

  /// An empty disk.
  ///
  /// - Parameters:
  ///   - seed: decides what garbled bytes look like and which survivors a limit leaves out.
  ///   - capacity: how many bytes all files together may have before the disk is full.
  ///   - syncDelay: how long each sync takes, so that other threads write meanwhile.
  package init(seed: UInt64 = 1, capacity: UInt64 = .max, syncDelay: Duration = .zero) {
    disk = Locked(FaultyDisk(seed: seed, capacity: capacity))
    self.syncDelay = syncDelay
  }

  init(_ disk: FaultyDisk, syncDelay: Duration) {
    self.disk = Locked(disk)
    self.syncDelay = syncDelay
  }

  /// How many points there were so far.
  package var pointCount: Int { disk.withLock { $0.points.count } }

  /// The points so far, in order.
  package var points: [FaultPoint] { disk.withLock { $0.points } }

  /// Makes the power fail at the point with this number, counted from 0.
  package func crash(at point: Int) {
    disk.withLock { $0.crashPoint = point }
  }

  /// Whether the power has failed.
  package var hasCrashed: Bool { disk.withLock { $0.hasCrashed } }

  /// Makes calls fail as `injection` says; several may be set at once.
  package func inject(_ injection: FaultInjection) {
    disk.withLock { $0.injections.append(injection) }
  }

  /// Lets all calls succeed again.
  package func removeInjections() {
    disk.withLock { $0.injections.removeAll() }
  }

  /// Calls `body` once, in the middle of the next sync of a file: what it covers is decided, and it
  /// has had no effect yet. The sync goes on when `body` returns; other threads write meanwhile.
  package func duringNextSync(_ body: @escaping @Sendable () -> Void) {
    duringNextSync.withLock { $0 = body }
  }

  /// How many calls have failed because of injections.
  package var injectedCount: Int { disk.withLock { $0.injectedCount } }

  /// How many calls of this kind there were so far: those that an injection could let fail.
  package func callCount(_ operation: StorageError.Operation) -> Int {
    disk.withLock { $0.callCounts[operation] ?? 0 }
  }

  /// How many bytes all files together may have; may be changed at any time.
  package var capacity: UInt64 {
    get { disk.withLock { $0.capacity } }
    set { disk.withLock { $0.capacity = newValue } }
  }

  /// Whether the system can read what the disk holds, past the cache; true at first.
  package var hasReadPastCache: Bool {
    get { disk.withLock { $0.hasReadPastCache } }
    set { disk.withLock { $0.hasReadPastCache = newValue } }
  }

  /// Whether a sync that lost what was written is reported once to every open file; false at first.
  package var tellsEveryFile: Bool {
    get { disk.withLock { $0.tellsEveryFile } }
    set { disk.withLock { $0.tellsEveryFile = newValue } }
  }

  /// Whether the system cannot rename to a name only if it is free, so that `place` links the file
  /// under its new name and then removes the old; false at first.
  package var placesByLinking: Bool {
    get { disk.withLock { $0.placesByLinking } }
    set { disk.withLock { $0.placesByLinking = newValue } }
  }

  /// What is there after the process was killed: everything written so far. Locks are gone.
  package func afterKill() -> FaultyFileSystem {
    disk.withLock { FaultyFileSystem($0.afterKill(), syncDelay: syncDelay) }
  }

  /// Differs, but for a chance of one in 2^64, between disks with other names, other bytes, or
  /// other changes of either that are unsynced. Holds within one process; costs a pass over all
  /// bytes.
  package var fingerprint: Int { disk.withLock { $0.fingerprint } }

  /// The names that exist, sorted.
  package var paths: [String] { disk.withLock { $0.names.keys.sorted() } }

  /// Ends every call with ENODEV from now on, as after a power cut at this moment.
  package func cutPower() {
    disk.withLock { $0.hasCrashed = true }
  }
}

extension FaultyFileSystem {
  package func open(
    _ path: String, for access: FileAccess
  ) throws(StorageError) -> any StorageFile {
    try disk.withLock { disk throws(StorageError) in
      try disk.check(.open, path)
      guard let file = disk.names[path] else {
        throw StorageError(.open, path, .noSuchFileOrDirectory)
      }
      return disk.open(file, path: path, access: access, in: self)
    }
  }

  package func create(
    _ path: String, like original: String?
  ) throws(StorageError) -> any StorageFile {
    try disk.withLock { disk throws(StorageError) in
      if disk.names[path] != nil { throw StorageError(.create, path, .fileExists) }
      if let original, disk.names[original] == nil {
        throw StorageError(.copyAttributes, original, .noSuchFileOrDirectory)
      }
      let number = disk.nextNumber()
      try disk.changeNames(.create, path) { disk in
        disk.files[number] = FaultyDisk.File()
        disk.appendNameChange(.add(path, number))
      }
      return disk.open(number, path: path, access: .writing, in: self)
    }
  }

  package func link(_ existing: String, to new: String) throws(StorageError) {
    try disk.withLock { disk throws(StorageError) in
      guard let number = disk.names[existing] else {
        throw StorageError(.link, existing, .noSuchFileOrDirectory)
      }
      if disk.names[new] != nil { throw StorageError(.link, new, .fileExists) }
      try disk.changeNames(.link, new) { $0.appendNameChange(.add(new, number)) }
    }
  }

  package func place(_ from: String, at to: String) throws(StorageError) {
    if placesByLinking {
      try link(from, to: to)
      return try remove(from)
    }
    try disk.withLock { disk throws(StorageError) in
      guard let number = disk.names[from] else {
        throw StorageError(.place, to, .noSuchFileOrDirectory)
      }
      if disk.names[to] != nil { throw StorageError(.place, to, .fileExists) }
      try disk.changeNames(.place, to) { $0.appendNameChange(.move(from, to, number)) }
    }
  }

  package func watch(_ path: String) -> any FileWatch { watches.add() }

  package func rename(_ from: String, over to: String) throws(StorageError) {
    defer { watches.tell() }
    try disk.withLock { disk throws(StorageError) in
      guard let number = disk.names[from] else {
        throw StorageError(.rename, from, .noSuchFileOrDirectory)
      }
      try disk.changeNames(.rename, from) { disk in
        if disk.names[to] != number { disk.appendNameChange(.move(from, to, number)) }
      }
    }
  }

  package func remove(_ path: String) throws(StorageError) {
    try disk.withLock { disk throws(StorageError) in
      if disk.names[path] == nil { throw StorageError(.remove, path, .noSuchFileOrDirectory) }
      try disk.changeNames(.remove, path) { $0.appendNameChange(.remove(path)) }
    }
  }

  package func syncDirectory(of path: String) throws(StorageError) {
    try disk.withLock { disk throws(StorageError) in
      try disk.run(.syncDirectory, path) { disk, effect in
        if effect == .complete { disk.syncNames() }
      }
    }
  }

  package func resolve(_ path: String) throws(StorageError) -> String {
    try disk.withLock { disk throws(StorageError) in try disk.check(.resolve, path) }
    return path
  }

  package func identity(of path: String) throws(StorageError) -> FileIdentity? {
    try disk.withLock { disk throws(StorageError) in
      try disk.check(.identify, path)
      return disk.names[path].map { FileIdentity(device: 0, inode: $0) }
    }
  }

  package func linkCount(of path: String) throws(StorageError) -> Int {
    try disk.withLock { disk throws(StorageError) in
      try disk.check(.identify, path)
      guard let number = disk.names[path] else { return 0 }
      return disk.names.values.count { $0 == number }
    }
  }
}
