import AnnalsStorage
import SystemPackage

// Changes of one file, and syncs.
extension FaultyDisk {
  /// The number of bytes that still fit on the disk. A file without a name takes space as long as
  /// it is open.
  private var freeSpace: UInt64 {
    let named = Set(names.values)
    let used = files.reduce(UInt64(0)) { sum, file in
      let takesSpace = file.value.openCount > 0 || named.contains(file.key)
      return takesSpace ? sum + UInt64(file.value.visible.count) : sum
    }
    return settings.capacity > used ? settings.capacity - used : 0
  }

  /// Writes as much of `bytes` as fits on the disk; throws if not all fit.
  mutating func write(
    _ bytes: UnsafeRawBufferPointer, at offset: Int, to file: UInt64, path: String
  ) throws(StorageError) {
    let range = UInt64(offset)..<UInt64(offset) + UInt64(bytes.count)
    let size = files[file]?.visible.count ?? 0
    let limit = UInt64(size) + freeSpace
    let room = Int(clamping: limit - min(limit, range.lowerBound))
    let fitting = min(bytes.count, room)
    try run(.write, path, range) { disk, effect in
      var count = fitting
      if case .partial(let part) = effect { count = min(count, part) }
      let part = UnsafeRawBufferPointer(rebasing: bytes.prefix(max(0, count)))
      if part.isEmpty { return }
      disk.append(.write(at: offset, ContiguousArray(part)), to: file)
    }
    if fitting < bytes.count { throw StorageError(.write, path, .noSpace) }
  }

  /// Lengthens the file with zeros, if it is shorter than `end`.
  mutating func grow(_ file: UInt64, to end: Int, path: String) throws(StorageError) {
    let size = files[file]?.visible.count ?? 0
    let isFull = end > size && UInt64(end - size) > freeSpace
    let range = UInt64(size)..<UInt64(max(size, end))
    try run(.allocate, path, range) { disk, effect in
      if !isFull && effect == .complete && end > size { disk.append(.grow(to: end), to: file) }
    }
    if isFull { throw StorageError(.allocate, path, .noSpace) }
  }

  /// Truncates or lengthens the file.
  mutating func resize(_ file: UInt64, to size: Int, path: String) throws(StorageError) {
    try run(.truncate, path) { disk, effect in
      if effect == .complete { disk.append(.resize(to: size), to: file) }
    }
  }

  private mutating func append(_ kind: Change.Kind, to file: UInt64) {
    let change = Change(kind: kind, sequence: nextNumber())
    // Bytes that are written again are unsynced again.
    switch kind {
    case .write(let offset, let bytes):
      files[file]?.forgetBelievedClean(in: offset..<offset + bytes.count)
    case .resize(let size): files[file]?.forgetBelievedClean(in: size..<Int.max)
    case .grow: break
    }
    files[file]?.visible.apply(kind)
    files[file]?.pending.append(change)
  }

  /// Syncs the changes of a file up to `sequence`, with the given effect.
  mutating func sync(_ file: UInt64, upTo sequence: UInt64, effect: FaultInjection.Effect) {
    if effect == .cacheLies || effect == .cacheDrops { files[file]?.lossCount += 1 }
    switch effect {
    case .none, .partial: break
    case .complete: files[file]?.makeDurable(upTo: sequence)
    case .cacheLies: files[file]?.believeClean(upTo: sequence)
    case .cacheDrops: files[file]?.dropPending(upTo: sequence)
    }
  }

  /// The number of the newest change.
  var newestChange: UInt64 { files.values.lazy.compactMap { $0.pending.last?.sequence }.max() ?? 0 }
}

extension FaultyDisk.File {
  fileprivate mutating func makeDurable(upTo sequence: UInt64) {
    for change in pending where change.sequence <= sequence && !change.isBelievedClean {
      durable.apply(change.kind)
    }
    pending.removeAll { $0.sequence <= sequence && !$0.isBelievedClean }
  }

  fileprivate mutating func believeClean(upTo sequence: UInt64) {
    for index in pending.indices where pending[index].sequence <= sequence {
      // Lengths are in the journal and written again; only bytes are lost.
      if case .write = pending[index].kind { pending[index].isBelievedClean = true }
    }
  }

  fileprivate mutating func dropPending(upTo sequence: UInt64) {
    pending.removeAll { $0.sequence <= sequence }
    visible = durable
    for change in pending { visible.apply(change.kind) }
  }

  /// Drops the changes of these bytes that the cache wrongly calls clean: the bytes were written
  /// again, or were read past the cache, which shows that the disk does not have them.
  mutating func forgetBelievedClean(in covered: Range<Int>) {
    guard pending.contains(where: \.isBelievedClean) else { return }
    pending = pending.flatMap { change -> [FaultyDisk.Change] in
      guard change.isBelievedClean, case .write(let offset, let bytes) = change.kind else {
        return [change]
      }
      let range = offset..<offset + bytes.count
      guard range.overlaps(covered) else { return [change] }
      let pieces = [
        range.lowerBound..<max(range.lowerBound, covered.lowerBound),
        min(range.upperBound, covered.upperBound)..<range.upperBound,
      ]
      return pieces.filter { !$0.isEmpty }.map { piece in
        var part = change
        part.kind = .write(
          at: piece.lowerBound,
          ContiguousArray(bytes[piece.lowerBound - offset..<piece.upperBound - offset]))
        return part
      }
    }
  }
}

extension ContiguousArray<UInt8> {
  /// Applies a change of a file to its bytes.
  mutating func apply(_ change: FaultyDisk.Change.Kind) {
    switch change {
    case .write(let offset, let bytes):
      lengthen(to: offset + bytes.count)
      replaceSubrange(offset..<offset + bytes.count, with: bytes)
    case .grow(let end):
      lengthen(to: end)
    case .resize(let size):
      if size < count { removeLast(count - size) } else { lengthen(to: size) }
    }
  }
}
