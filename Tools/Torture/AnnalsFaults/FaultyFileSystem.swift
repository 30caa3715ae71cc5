// The fault model: what a disk and its file system may do to a store, and what they may not.
//
// Power may fail at any *point*: while a file is created, written, allocated, truncated or synced,
// or a name is linked, renamed or removed, or a directory is synced. Then: 1. What a sync that
// returned covers survives: the bytes of the file as of the call, or the names of the directory. 2.
// Each later change of a file survives or not, independent of order: none of them, a prefix, all
// but one, one alone, all. The change in flight at the point is one of them. 3. The last write may
// survive in part: its first or its last sectors (512 bytes), all but one sector, or with the bytes
// written into its last sector garbled. Other bytes of a sector stay as they are (drives write
// sectors whole or not at all). 4. The length of a file may survive without the bytes: a lost write
// then reads as zeros (file systems write lengths and data separately). 5. Changes of names in a
// directory survive in order: a prefix of them (file systems keep them in a journal). A name may
// survive without the bytes of its file, and synced bytes without the name of their file. Syncing a
// file does not sync its name. A killed process loses nothing that it has written: all changes
// survive.
//
// Without a power cut, any call may fail with any error number, before, after or in the middle of
// its effect, and a disk may be full. After a failed sync the cache may show the new bytes and call
// them clean, though the disk does not hold them: later syncs do not write them unless they are
// written again, and only a read past the cache shows that they are missing. Or the cache drops the
// new bytes and shows the old ones. On request the next sync of every other open file of that file
// fails, too, once, as on Linux; otherwise only the call that met the error reports it.
//
// EINTR and short transfers are not modelled: AnnalsStorage/Posix continues after both (`transfer`,
// `retrying`), so that no layer above sees them. PosixFileSystemTests tests those functions, and
// InterruptedCallsTests interrupts the calls of real processes.
//
// Not modelled: bytes that change by themselves (the damage tests do that to whole files), sectors
// that cannot be read, and drives that lie about syncs.

import AnnalsStorage
import SystemPackage

/// A file system in memory that fails on request, and enumerates the states that a power cut may
/// leave.
///
/// A test runs its work once to count the points, and then once for each point with `crash(at:)`.
/// At that point the power fails: the call throws ENODEV, and so does every later one.
/// `forEachSurvivor` then yields a file system for every state that the fault model permits.
@dynamicMemberLookup
package final class FaultyFileSystem: FileSystem {
  let disk: Locked<FaultyDisk>
  let syncDelay: Duration
  let watches = WatchList()
  /// What the next sync does before it has an effect.
  let duringNextSync = Locked<(@Sendable () -> Void)?>(nil)

  /// An empty disk.
  ///
  /// - Parameters:
  ///   - seed: decides the garbled bytes, and which survivors a limit leaves out.
  ///   - capacity: the greatest number of bytes in all files together.
  ///   - syncDelay: the duration of each sync, so that other threads write meanwhile.
  package init(seed: UInt64 = 1, capacity: UInt64 = .max, syncDelay: Duration = .zero) {
    disk = Locked(FaultyDisk(seed: seed, FaultySettings(capacity: capacity)))
    self.syncDelay = syncDelay
  }

  init(_ disk: FaultyDisk, syncDelay: Duration) {
    self.disk = Locked(disk)
    self.syncDelay = syncDelay
  }

  /// The number of points so far.
  package var pointCount: Int { disk.withLock { $0.points.count } }

  /// The points so far, in order.
  package var points: [FaultPoint] { disk.withLock { $0.points } }

  /// Makes the power fail at the point with this number, counted from 0.
  package func crash(at point: Int) {
    disk.withLock { $0.crashPoint = point }
  }

  /// Whether the power has failed.
  package var hasCrashed: Bool { disk.withLock { $0.hasCrashed } }

  /// Adds an injection; several may be active at once.
  package func inject(_ injection: FaultInjection) {
    disk.withLock { $0.injections.append(injection) }
  }

  /// Lets all calls succeed again.
  package func removeInjections() {
    disk.withLock { $0.injections.removeAll() }
  }

  /// Calls `body` once, in the middle of the next sync of a file: after it is decided what the sync
  /// covers, and before it has an effect. Other threads can write meanwhile.
  package func duringNextSync(_ body: @escaping @Sendable () -> Void) {
    duringNextSync.withLock { $0 = body }
  }

  /// The number of calls that failed because of injections.
  package var injectedCount: Int { disk.withLock { $0.injectedCount } }

  /// The number of calls of each kind so far, each of which an injection could make fail.
  package var callCounts: [StorageError.Operation: Int] { disk.withLock { $0.callCounts } }

  /// The number of calls of this kind so far.
  package func callCount(_ operation: StorageError.Operation) -> Int {
    disk.withLock { $0.callCounts[operation] ?? 0 }
  }

  /// What the disk and its file system are like; may be changed at any time.
  package var settings: FaultySettings {
    get { disk.withLock { $0.settings } }
    set { disk.withLock { $0.settings = newValue } }
  }

  package subscript<Setting>(
    dynamicMember setting: WritableKeyPath<FaultySettings, Setting>
  ) -> Setting {
    get { settings[keyPath: setting] }
    set { settings[keyPath: setting] = newValue }
  }

  /// The file system after the process was killed: with everything written so far, without locks.
  package func afterKill() -> FaultyFileSystem {
    disk.withLock { FaultyFileSystem($0.afterKill(), syncDelay: syncDelay) }
  }

  /// A 64-bit hash of the names, the bytes, and the unsynced changes of both. Comparable within one
  /// process; costs a pass over all bytes.
  package var fingerprint: Int { disk.withLock { $0.fingerprint } }

  /// The names that exist, sorted.
  package var paths: [String] { disk.withLock { $0.names.keys.sorted() } }

  /// Cuts the power now: every later call throws ENODEV.
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
    _ path: String, like original: String?, requiresOwner: Bool
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
    if settings.placesByLinking {
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
