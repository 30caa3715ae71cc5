import AnnalsStorage

// Telling disks apart.
extension FaultyDisk {
  /// Differs between disks with other names or bytes, durable or not. Locks, open files, injections
  /// and the settings of the disk are no part of it.
  var fingerprint: Int {
    var hasher = Hasher()
    hasher.combine(names)
    hasher.combine(durableNames)
    hasher.combine(pendingNames)
    for (number, file) in files.sorted(by: { $0.key < $1.key }) {
      hasher.combine(number)
      hasher.combine(contentsOf: file.durable)
      // Without unsynced changes a process sees what the disk has.
      hasher.combine(file.pending.count)
      if file.pending.isEmpty { continue }
      hasher.combine(contentsOf: file.visible)
      for change in file.pending {
        hasher.combine(change.isBelievedClean)
        hasher.combine(change.kind)
      }
    }
    return hasher.finalize()
  }
}

extension Hasher {
  /// Takes in the bytes at once: one by one they take many times as long.
  fileprivate mutating func combine(contentsOf bytes: ContiguousArray<UInt8>) {
    combine(bytes.count)
    bytes.withUnsafeBytes { combine(bytes: $0) }
  }

  fileprivate mutating func combine(_ kind: FaultyDisk.Change.Kind) {
    switch kind {
    case .write(let offset, let bytes):
      combine(0)
      combine(offset)
      combine(contentsOf: bytes)
    case .grow(let end):
      combine(1)
      combine(end)
    case .resize(let size):
      combine(2)
      combine(size)
    }
  }
}
