import AnnalsEngine
import AnnalsFormat
import AnnalsFrames
import AnnalsModel
import AnnalsStorage

/// A frame of a log is not as it was written.
package struct StretchDamage: Error {
  /// Where in the store's file.
  package var offset: UInt64
  package var reason: String
}

/// Whole units of a log, one after the other, each frame of which was checked.
package struct LogStretch: Sendable {
  /// After the last unit.
  package private(set) var end: ChainPoint
  /// The last transaction in them; nil if there is none.
  package private(set) var head: Int64?
  /// Its timestamp.
  package private(set) var timestamp: Timestamp?
  /// The last checkpoint in them: where its directory is, and its transaction.
  package private(set) var checkpoint: (offset: UInt64, number: Int64)?
  /// The features that they announce.
  package private(set) var announced = Features.none

  /// Reads the units from `start` on, up to `limit`, where one ends, or to the first end of a unit
  /// after `most` bytes. Throws `StretchDamage` at a frame that is not as it was
  /// written. Memory: a window, one payload, and one block as it decodes.
  package init(
    of file: any StorageFile, _ header: FileHeader, from start: ChainPoint, upTo limit: UInt64,
    most: UInt64 = .max
  ) throws {
    let window = FileWindow(file, size: limit)
    var walk = FrameWalk(window, seed: header.seed, from: start)
    end = start
    var last: WalkedFrame?
    while end.offset - start.offset < most {
      let frame: WalkedFrame
      switch try walk.next() {
      case .frame(let next): frame = next
      case .end(.limit):
        guard walk.point == end else {
          throw LogStretch.damage(at: end.offset, "a unit is not whole")
        }
        if let last { try decode(last, &walk) }
        return
      case .end(let why): throw LogStretch.damage(at: walk.point.offset, why.reason)
      }
      guard try walk.payloadIsValid(frame) else {
        throw LogStretch.damage(at: frame.offset, "the frame's payload was changed")
      }
      guard frame.header.closesUnit else { continue }
      end = walk.point
      announced = walk.announced
      switch frame.header.kind {
      case .transaction, .block: last = frame
      case .checkpoint:
        let number = walk.withPayload(of: frame) { bytes in
          var reader = ByteReader(bytes)
          return try? reader.readVarInt64()
        }
        if let number { checkpoint = (frame.offset, number) }
      default: break
      }
    }
    if let last { try decode(last, &walk) }
  }

  /// Finds number and timestamp of the last transaction of a frame.
  private mutating func decode(_ frame: WalkedFrame, _ walk: inout FrameWalk) throws {
    guard let record = try LogStretch.lastRecord(of: frame, &walk) else { return }
    head = record.number
    timestamp = record.timestamp
  }

  /// The last transaction of a frame.
  fileprivate static func lastRecord(
    of frame: WalkedFrame, _ walk: inout FrameWalk
  ) throws -> TransactionRecord? {
    guard try walk.payloadIsValid(frame) else {
      throw damage(at: frame.offset, "the frame's payload was changed")
    }
    var batch = ChangeBatch()
    do throws(DecodeFault) {
      try walk.withPayload(of: frame) { payload throws(DecodeFault) in
        try frame.header.decodeTransactions(payload, into: &batch)
      }
    } catch {
      throw damage(at: frame.offset, "a record cannot be decoded (\(error))")
    }
    return batch.transactions.last
  }

  private static func damage(at offset: UInt64, _ reason: String) -> StretchDamage {
    StretchDamage(offset: offset, reason: reason)
  }
}

extension LogStretch {
  /// The last place of a log at which transaction `number` is the newest; nil if there is none,
  /// since it lies within a block. Everything up to `limit` was checked before.
  package static func cut(
    of file: any StorageFile, _ header: FileHeader, after number: Int64, upTo limit: UInt64
  ) throws -> ChainPoint? {
    let window = FileWindow(file, size: limit)
    var walk = FrameWalk(window, seed: header.seed, from: ChainPoint(beginningOf: header))
    var end = walk.point
    var last: WalkedFrame?
    steps: while case .frame(let frame) = try walk.next() {
      switch frame.header.kind {
      case .transaction, .block:
        guard try walk.payloadIsValid(frame) else {
          throw damage(at: frame.offset, "the frame's payload was changed")
        }
        if try firstNumber(of: frame, walk) > number { break steps }
        if frame.header.closesUnit { last = frame }
      default: break
      }
      if frame.header.closesUnit { end = walk.point }
    }
    let newest = try last.flatMap { try lastRecord(of: $0, &walk)?.number } ?? header.base
    return newest == number ? end : nil
  }

  /// The number of the first transaction in a frame whose payload was just checked.
  private static func firstNumber(of frame: WalkedFrame, _ walk: FrameWalk) throws -> Int64 {
    do throws(DecodeFault) {
      return try walk.withPayload(of: frame) { payload throws(DecodeFault) in
        if frame.header.kind == .block { return try BlockCodec.decodeSummary(payload).firstNumber }
        var reader = ByteReader(payload)
        return try reader.readVarInt64()
      }
    } catch {
      throw damage(at: frame.offset, "a record cannot be decoded (\(error))")
    }
  }
}

extension RootSlot {
  /// The slot of a file that ends after these units, the first of which is the first of the log.
  package init(endingAfter stretch: LogStretch, of header: FileHeader) {
    self.init(
      sequence: 1, durableMark: stretch.end.offset, head: stretch.head ?? header.base,
      markChecksum: stretch.end.previousChecksum ?? header.checksum)
    if let checkpoint = stretch.checkpoint {
      checkpointOffset = checkpoint.offset
      checkpointNumber = checkpoint.number
    }
    announced = stretch.announced
  }
}
