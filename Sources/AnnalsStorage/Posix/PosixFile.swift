import Synchronization
import SystemPackage

/// An open file of the operating system.
///
/// The descriptor is closed once: when `close` was called and the last call that uses it has
/// returned. So a read beside `close` never meets a descriptor number that the system has meanwhile
/// given to another file.
///
/// A fork of the process that opened it can read it and close its descriptor, and nothing else: the
/// two share the lock, and each would believe that it holds it alone.
final class PosixFile: StorageFile {
  let path: String
  let descriptor: FileDescriptor
  /// Twice the number of calls that use the descriptor, plus one once `close` was called.
  private let use = Atomic<UInt>(0)
  /// The file's identity, cached when it is first read; it never changes.
  private let knownIdentity = Locked<FileIdentity?>(nil)
  private let owner = OwningProcess()

  /// Adopts `descriptor`, which this file closes.
  init(_ descriptor: FileDescriptor, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  deinit { close() }

  func close() {
    let before = use.bitwiseOr(1, ordering: .acquiringAndReleasing).oldValue
    if before == 0 { try? descriptor.close() }
  }

  /// Runs `body` while the descriptor stays open, and adds the operation and the path to its error.
  func withDescriptor<R>(
    _ operation: StorageError.Operation,
    _ body: (FileDescriptor) throws(Errno) -> R
  ) throws(StorageError) -> R {
    guard enter() else { throw StorageError(operation, path, .badFileDescriptor) }
    defer { leave() }
    do throws(Errno) {
      return try body(descriptor)
    } catch {
      throw StorageError(operation, path, error)
    }
  }

  /// As `withDescriptor`, for what changes or locks the file. Throws in a fork of the process that
  /// opened it.
  private func withOwnDescriptor<R>(
    _ operation: StorageError.Operation,
    _ body: (FileDescriptor) throws(Errno) -> R
  ) throws(StorageError) -> R {
    guard owner.isCurrent else { throw .inherited(path) }
    return try withDescriptor(operation, body)
  }

  /// Counts one more call; returns false if the file is closed.
  private func enter() -> Bool {
    var seen = use.load(ordering: .relaxed)
    while seen & 1 == 0 {
      let (exchanged, original) = use.weakCompareExchange(
        expected: seen, desired: seen + 2, ordering: .acquiring)
      if exchanged { return true }
      seen = original
    }
    return false
  }

  private func leave() {
    let left = use.subtract(2, ordering: .acquiringAndReleasing).newValue
    if left == 1 { try? descriptor.close() }
  }

  func size() throws(StorageError) -> UInt64 {
    try withDescriptor(.size) { descriptor throws(Errno) in try FilePlace(of: descriptor).size }
  }

  func identity() throws(StorageError) -> FileIdentity {
    if let known = knownIdentity.withLock({ $0 }) { return known }
    let identity = try withDescriptor(.identify) { descriptor throws(Errno) in
      try FilePlace(of: descriptor).identity
    }
    knownIdentity.withLock { $0 = identity }
    return identity
  }

  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
  ) throws(StorageError) -> Int {
    try withDescriptor(.read) { descriptor throws(Errno) in
      // No bytes lie beyond the largest offset.
      guard let start = Int64(exactly: offset) else { return 0 }
      return try transfer(buffer.count) { moved in
        let (position, overflow) = start.addingReportingOverflow(Int64(moved))
        if overflow { return .success(0) }
        return result {
          try descriptor.read(
            fromAbsoluteOffset: position,
            into: UnsafeMutableRawBufferPointer(rebasing: buffer[moved...]))
        }
      }
    }
  }

  func readPastCache(
    into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
  ) throws(StorageError) -> Int? {
    try withDescriptor(.read) { descriptor throws(Errno) in
      try readDisk(descriptor, into: buffer, at: offset)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) {
    try withOwnDescriptor(.write) { descriptor throws(Errno) in
      guard let start = Int64(exactly: offset), Int64(bytes.count) <= Int64.max - start
      else { throw .fileTooLarge }
      try write(bytes, at: start, to: descriptor)
    }
  }

  @inline(__always)
  private func write(
    _ bytes: UnsafeRawBufferPointer, at start: Int64, to descriptor: FileDescriptor
  ) throws(Errno) {
    let written = try transfer(bytes.count) { moved in
      result {
        try descriptor.write(
          toAbsoluteOffset: start + Int64(moved),
          UnsafeRawBufferPointer(rebasing: bytes[moved...]))
      }
    }
    // A write that neither moves bytes nor fails would otherwise repeat for ever.
    if written < bytes.count { throw .ioError }
  }

  func sync() throws(StorageError) {
    try withOwnDescriptor(.sync) { descriptor throws(Errno) in try syncData(of: descriptor) }
  }

  func truncate(to size: UInt64) throws(StorageError) {
    try withOwnDescriptor(.truncate) { descriptor throws(Errno) in
      guard let size = Int64(exactly: size) else { throw .fileTooLarge }
      try result { try descriptor.resize(to: size) }.get()
    }
  }

  func allocate(from start: UInt64, to end: UInt64) throws(StorageError) {
    guard start < end else { return }
    try withOwnDescriptor(.allocate) { descriptor throws(Errno) in
      guard let last = Int64(exactly: end) else { throw .fileTooLarge }
      let size = try FileStatus(of: descriptor).size
      do throws(Errno) {
        try allocateSpace(for: descriptor, size: size, from: Int64(start), to: last)
      } catch  where error == .notSupported {
        try writeZeros(to: descriptor, from: size, to: end)
      }
    }
  }

  /// Lengthens the file to `end` by writing zeros, for a file system that cannot reserve space.
  func writeZeros(
    to descriptor: FileDescriptor, from start: UInt64, to end: UInt64
  ) throws(Errno) {
    let zeros = [UInt8](repeating: 0, count: 64 << 10)
    var position = start
    while position < end {
      let count = Int(min(end - position, UInt64(zeros.count)))
      try zeros.withUnsafeBufferPointer { (zeros) throws(Errno) in
        let piece = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(zeros).prefix(count))
        try write(piece, at: Int64(position), to: descriptor)
      }
      position += UInt64(count)
    }
  }
}

extension PosixFile {
  func lock(_ kind: LockKind, wait: LockWait) throws(StorageError) -> Bool {
    switch wait {
    case .none: return try askForLock(kind)
    case .until(let deadline), .unlessInterrupted(let deadline, _):
      var pauses = LockPauses(from: .now, until: deadline)
      while true {
        if try askForLock(kind) { return true }
        guard !wait.isInterrupted, let pause = pauses.next(at: .now) else { return false }
        sleepThread(for: pause)
      }
    }
  }

  func lockHolder() -> LockHolder? {
    guard let identity = try? identity() else { return nil }
    return LockHolder(of: identity)
  }

  private func askForLock(_ kind: LockKind) throws(StorageError) -> Bool {
    try withOwnDescriptor(.lock) { descriptor throws(Errno) in try lockFile(descriptor, kind) }
  }

  func unlock() {
    // A closed file holds no lock, and the lock of a fork is its parent's.
    _ = try? withOwnDescriptor(.lock) { descriptor throws(Errno) in unlockFile(descriptor) }
  }
}

/// The pauses between attempts to take a lock, since `flock` has no timeout. They grow by half from
/// 0.1 ms to 0.5 ms, so that a holder that locks again and again is soon met between two turns.
/// They end at the deadline, so that the last attempt comes there.
///
/// `flock` has no queue either: the first to ask after a turn gets the next. So whoever has waited
/// for more than one turn asks five times as often as later ones, but not for long, since the
/// holder may be sleeping.
struct LockPauses {
  private static let shortest = Duration.microseconds(100)
  private static let longest = Duration.microseconds(500)
  /// The waiting times during which attempts come more often.
  private static let urgentTime = Duration.milliseconds(8)..<Duration.milliseconds(100)

  private let start: ContinuousClock.Instant
  private let deadline: ContinuousClock.Instant
  private var pause = LockPauses.shortest

  /// Starts waiting at a moment.
  init(from start: ContinuousClock.Instant, until deadline: ContinuousClock.Instant) {
    self.start = start
    self.deadline = deadline
  }

  /// The pause before the next attempt; nil at the deadline.
  mutating func next(at now: ContinuousClock.Instant) -> Duration? {
    let left = now.duration(to: deadline)
    guard left > .zero else { return nil }
    if LockPauses.urgentTime.contains(start.duration(to: now)) {
      return min(LockPauses.shortest, left)
    }
    defer { pause = min(pause * 3 / 2, LockPauses.longest) }
    return min(pause, left)
  }
}

/// Converts the untyped errors of swift-system, which are always error numbers, to a result.
func result<R>(_ body: () throws -> R) -> Result<R, Errno> {
  do {
    return .success(try body())
  } catch let errno as Errno {
    return .failure(errno)
  } catch {
    preconditionFailure("swift-system threw \(error), which is no error number")
  }
}
