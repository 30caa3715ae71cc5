import AnnalsFormat
import AnnalsFrames
import AnnalsStorage

extension LogView {
  /// Copies the file to `path`, where no file may exist: its header, and every frame of the log up
  /// to this view's end, unchanged. Others may write meanwhile, or replace the file. The copy gets
  /// mode and extended attributes from the file `original`, and its owner if that may be set.
  ///
  /// Memory: 1 MiB. `check` sees the copy before it has its header, and this file. Returns the
  /// copy's size. Throws `exists` if a file exists, `busy` if another copy is being made there,
  /// `occupied` if another file has its temporary name, `damage` if the log cannot be followed to
  /// the view's end; and what `check` throws. Then nothing is left, except after
  /// `placementUnknown`.
  package func backUp(
    to path: String, in fileSystem: any FileSystem, like original: String?,
    check: (_ copy: any StorageFile, _ original: any StorageFile) throws -> Void
  ) throws(LogError) -> UInt64 {
    let path = try fileSystem.pathOfNewFile(path)
    let slot = try slotAtEnd()
    let temporary = try TemporaryFile(for: path, like: original, in: fileSystem)
    do throws(LogError) {
      try copyLog(to: temporary.file)
      var header = file.header
      try temporary.seal(header.encode(with: slot)) { try check($0, file.file) }
    } catch {
      temporary.discard()
      throw error
    }
    try temporary.put(at: path)
    return end
  }

  /// The root slot of a file that ends where this view does. Reads the frame headers after the
  /// newest checkpoint.
  private func slotAtEnd() throws(LogError) -> RootSlot {
    var start = ChainPoint(beginningOf: file.header)
    if tables.checkpointEnd > start.offset {
      start = ChainPoint(offset: tables.checkpointEnd, previousChecksum: nil)
    }
    if let checkpoint = tables.checkpoint, start.previousChecksum == nil {
      start.previousChecksum = try file.frameHeader(at: checkpoint.offset)?.checksum
    }
    var walk = FrameWalk(file, from: start, limit: end)
    steps: while true {
      switch try walk.step() {
      case .frame: continue
      case .end(.limit): break steps
      case .end(let why):
        throw .damage(at: walk.point.offset, why.reason)
      }
    }
    guard let last = walk.point.previousChecksum else {
      throw .damage(at: start.offset, "the newest checkpoint is unreadable")
    }
    var slot = RootSlot(sequence: 1, durableMark: end, head: head.number, markChecksum: last)
    if let place = tables.checkpoint {
      slot.checkpointOffset = place.offset
      slot.checkpointNumber = place.number
    }
    slot.announced = tables.announced
    return slot
  }

  private func copyLog(to copy: any StorageFile) throws(LogError) {
    var offset = FormatLimits.logStart
    while offset < end {
      let bytes = try file.read(Int(min(end - offset, 1 << 20)), at: offset)
      guard !bytes.isEmpty else { throw .damage(at: offset, "the file ends before its log") }
      try wrapping { try copy.write(bytes, at: offset) }
      offset += UInt64(bytes.count)
    }
  }
}
