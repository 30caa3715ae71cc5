import AnnalsFormat
import AnnalsModel
import AnnalsTestSupport
import Foundation

/// The bytes of a store, to be damaged on purpose.
struct FixtureBytes {
  var bytes: ContiguousArray<UInt8>
  private(set) var seed: FrameSeed
  private(set) var frames: [FrameInBytes]

  init(_ bytes: ContiguousArray<UInt8>) throws {
    self.bytes = bytes
    seed = try bytes.fileHeader().seed
    frames = try bytes.frames()
  }

  /// The frames of a kind, in their order.
  func frames(_ kind: FrameKind) -> [FrameInBytes] { frames.filter { $0.header.kind == kind } }

  /// Behind the last frame.
  var end: Int { frames.last?.end ?? Int(FormatLimits.logStart) }

  /// Flips the lowest bit of a byte.
  mutating func flip(_ offset: Int) { bytes[offset] ^= 1 }

  /// Flips a bit in the middle of a frame's payload.
  mutating func flip(_ frame: FrameInBytes) {
    flip(frame.payload.lowerBound + frame.payload.count / 2)
  }

  /// Cuts the file to so many bytes.
  mutating func cut(to count: Int) { bytes.removeLast(bytes.count - count) }

  /// Puts bytes in place of those from `offset` on.
  mutating func put(_ new: [UInt8], at offset: Int) {
    bytes.replaceSubrange(offset..<offset + new.count, with: new)
  }

  /// Changes bytes of the header, also where the slots repeat it, and puts all checksums right.
  mutating func changeHeader(at offset: Int, to new: [UInt8]) throws {
    put(new, at: offset)
    for slot in [4096, 8192] where bytes[slot + 64] != 0 { put(new, at: slot + 64 + offset) }
    try seal()
  }

  /// Puts the header's checksum right, alone.
  mutating func sealHeader() {
    let end = FormatLimits.blockLength - 4
    put(checksum(of: 0..<end), at: end)
  }

  /// Puts all checksums right.
  mutating func seal() throws {
    let end = FormatLimits.blockLength - 4
    sealHeader()
    let headerChecksum = Array(bytes[end..<FormatLimits.blockLength])
    var previous = headerChecksum
    var checksums: [Int: [UInt8]] = [Int(FormatLimits.logStart): previous]
    for frame in frames {
      put(seeded(frame.payload, at: frame.offset), at: frame.offset + 12)
      put(previous, at: frame.offset + 16)
      previous = seeded(frame.offset + 4..<frame.payload.lowerBound, at: frame.offset)
      put(previous, at: frame.offset)
      checksums[frame.end] = previous
    }
    for slot in [4096, 8192] where bytes[slot] != 0 {
      if let checksum = checksums[number(at: slot + 32)] { put(checksum, at: slot + 48) }
      put(seeded(slot..<slot + end, at: slot), at: slot + end)
    }
  }

  /// Writes the log anew, each frame as what `change` makes of its payload: other payloads of the
  /// same kind, all but the last *continued*. The slots follow; offsets in payloads do not.
  mutating func rewriteLog(
    _ change: (FrameInBytes, UnsafeRawBufferPointer) throws -> [ContiguousArray<UInt8>]
  ) throws {
    try rewriteFrames { frame, payload in
      try change(frame, payload).map { (frame.header.kind, $0) }
    }
  }

  /// As `rewriteLog`, with payloads of any kinds; those of the frame's own are *continued* but for
  /// the last.
  mutating func rewriteFrames(
    _ change: (FrameInBytes, UnsafeRawBufferPointer) throws -> [(FrameKind, ContiguousArray<UInt8>)]
  ) throws {
    var writer = FrameWriter(behind: try bytes.fileHeader())
    writer.durableMark = nil
    for frame in frames {
      let pieces = try bytes[frame.payload].withUnsafeBytes { try change(frame, $0) }
      for (index, (kind, piece)) in pieces.enumerated() {
        let isContinued = index < pieces.count - 1 && kind == frame.header.kind
        let flags = kind == frame.header.kind ? frame.header.flags : []
        writer.append(kind, flags: isContinued ? .continued : flags, piece)
      }
    }
    let oldEnd = end
    cut(to: Int(FormatLimits.logStart))
    bytes += writer.bytes
    let newEnd = withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { Array($0) }
    for slot in [4096, 8192] where number(at: slot + 32) == oldEnd {
      put(newEnd, at: slot + 32)
      put(newEnd, at: slot + 52)
    }
    self = try FixtureBytes(bytes)
    try seal()
  }

  /// Cuts every large value into pieces of so many bytes, smaller than our writers make them.
  mutating func cutLargeValues(into length: Int) throws {
    try rewriteLog { frame, payload in
      guard frame.header.kind == .largeValue else { return [ContiguousArray(payload)] }
      let whole = try LargeValueCodec.decode(payload)
      return whole.withBytes { bytes in
        stride(from: 0, to: bytes.count, by: length).map { start in
          largeValuePiece(
            whole.number, bytes[start...].prefix(length), total: whole.totalLength,
            start: whole.start + UInt64(start))
        }
      }
    }
  }

  /// Changes the directory of the newest checkpoint.
  mutating func changeDirectory(_ change: (inout CheckpointDirectory) -> Void) throws {
    let newest = frames(.checkpoint).last?.offset
    try rewriteLog { frame, payload in
      guard frame.offset == newest else { return [ContiguousArray(payload)] }
      var directory = try CheckpointDirectory.decode(payload)
      change(&directory)
      return [directory.encode()]
    }
  }

  /// Lets the slots that name a checkpoint at one offset name it at another.
  mutating func moveCheckpoint(from old: Int, to new: Int) throws {
    for slot in [4096, 8192] where number(at: slot + 16) == old {
      put(withUnsafeBytes(of: UInt64(new).littleEndian) { Array($0) }, at: slot + 16)
    }
    try seal()
  }

  /// Appends a frame behind the last, as a later version might.
  mutating func append(_ kind: UInt8, _ flags: FrameFlags, _ payload: [UInt8]) {
    guard var writer = try? bytes.writerBehindFrames() else { return }
    writer.append(FrameKind(rawValue: kind), flags: flags, ContiguousArray(payload))
    cut(to: end)
    bytes += writer.bytes
  }

  /// Announces features in a frame behind the last; `inSlots` adds the root slots of a clean close
  /// behind it.
  mutating func announce(_ features: Features, inSlots: Bool) throws {
    var payload: ContiguousArray<UInt8> = []
    features.append(to: &payload)
    let oldEnd = end
    append(
      FrameKind.featureAnnouncement.rawValue, features.required == 0 ? .skippable : [],
      Array(payload))
    self = try FixtureBytes(bytes)
    guard inSlots else { return }
    let newEnd = withUnsafeBytes(of: UInt64(end).littleEndian) { Array($0) }
    for slot in [4096, 8192] where number(at: slot + 32) == oldEnd {
      put(newEnd, at: slot + 32)
      put(newEnd, at: slot + 52)
      put(Array(payload), at: slot + RootSlot.featuresOffset)
    }
    try seal()
  }

  private func number(at offset: Int) -> Int {
    bytes[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  private func checksum(of range: Range<Int>) -> [UInt8] {
    bytes.withUnsafeBytes { all in
      littleEndian(Checksum.crc32(UnsafeRawBufferPointer(rebasing: all[range])))
    }
  }

  private func seeded(_ range: Range<Int>, at offset: Int) -> [UInt8] {
    bytes.withUnsafeBytes { all in
      let bytes = UnsafeRawBufferPointer(rebasing: all[range])
      return littleEndian(seed.checksum(bytes, at: UInt64(offset)))
    }
  }

  private func littleEndian(_ number: UInt32) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { Array($0) }
  }
}
