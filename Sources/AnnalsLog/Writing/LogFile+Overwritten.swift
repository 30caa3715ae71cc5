import AnnalsFormat
import AnnalsStorage

// Detects that somebody has copied other bytes, such as a backup, over the file while it was open.
// Then nothing may be appended, since the file does not hold what is known here.

extension LogFile {
  /// Throws `overwritten` if frames are gone that nobody may remove, or if the slots are older than
  /// those seen: then an older copy was written over the file.
  func requireKept(_ state: LogState) throws(LogError) {
    var isOlder = false
    if let kept = state.kept, kept.previousOffset != 0 {
      isOlder = try !state.hasFrame(before: kept)
    }
    if !isOlder, let known = state.slot.newest, let found = try state.generation.slots().newest {
      isOlder = found.sequence < known.sequence
    }
    if isOlder { throw .overwritten(head: state.tables.head.number) }
  }

  /// Throws `overwritten`, `foreign` or `header` if other bytes were written over the file. For the
  /// holder of the lock, since then nobody else has written. Reads 24 bytes.
  package func requireUnchanged() throws(LogError) {
    try withOpenState { (state) throws(LogError) in
      precondition(state.isLocked, "others may write")
      guard state.replacement == nil, state.end.previousOffset != 0 else { return }
      if try state.hasFrame(before: state.end) { return }
      try state.generation.requireOwnHeader()
      throw .overwritten(head: state.tables.head.number)
    }
  }
}

extension LogState {
  /// Whether `bytes`, read where the last frame before a point begins, are that frame's header.
  func isFrame(_ bytes: UnsafeRawBufferPointer, before point: ChainPoint) -> Bool {
    guard bytes.count >= FormatLimits.frameHeaderLength else { return false }
    let header = try? FrameHeader.decode(bytes, at: point.previousOffset, seed: generation.seed)
    return header?.checksum == point.previousChecksum
  }

  /// Whether the last frame before a point is still in the file. Reads its header.
  func hasFrame(before point: ChainPoint) throws(LogError) -> Bool {
    let bytes = try generation.read(FormatLimits.frameHeaderLength, at: point.previousOffset)
    return bytes.withUnsafeBytes { isFrame($0, before: point) }
  }
}
