import AnnalsEngine
import AnnalsFormat
import AnnalsFrames
import AnnalsLog
import AnnalsModel
import AnnalsStorage

/// A store's file, open for reading, and how far its log is known to be on the disk.
///
/// Takes no lock and writes nothing, so no writer waits for it.
struct SyncedLog {
  let path: String
  let file: any StorageFile
  private let generation: LogGeneration
  /// The valid root slots, the newer first.
  private var slots: [RootSlot] = []

  var header: FileHeader { generation.header }

  /// How often something that a writer may be changing is read before it is judged.
  private static let mostTries = 16

  /// Opens the file. Throws `.notFound`, `.notAnAnnalsFile`, `.newerVersion`, `.damaged`.
  init(_ path: String, in fileSystem: any FileSystem) throws {
    self.path = path
    do throws(StorageError) {
      file = try fileSystem.open(path, for: .reading)
    } catch  where error.isMissing {
      throw AnnalsError.missingFile(path)
    } catch {
      throw error
    }
    do throws(LogError) {
      generation = try LogGeneration.open(file)
    } catch {
      throw AnnalsError(error, opening: path)
    }
    slots = try readSlots()
  }

  /// Reads both slots, again while one is unusable and changes: a writer may be at it.
  private func readSlots() throws -> [RootSlot] {
    let found: [RootSlot]
    do throws(LogError) {
      found = try generation.slots().valid
    } catch {
      throw AnnalsError(error, opening: path)
    }
    guard !found.isEmpty else {
      throw AnnalsError(
        .damaged,
        "\(path) is damaged: no root slot can be read. Nothing was shipped of it. Verify the file "
          + "to see what is affected; salvaging it saves everything readable",
        offset: FormatLimits.slotOffsets[0])
    }
    return found
  }

  /// Whether the frame before a point is in the file, so that the file has what was shipped up to
  /// there. Reads its header.
  func hasFrame(before point: ChainPoint) throws -> Bool {
    if point == ChainPoint(beginningOf: header) { return true }
    let found = try generation.frameHeader(at: point.previousOffset)
    return found?.checksum == point.previousChecksum
  }

  /// The end of the last unit after `start` that is on the disk, and whether whole units after it
  /// may not be. `start` is where a unit begins.
  ///
  /// What a slot or a later frame proves synced is. For what follows, this syncs the file itself,
  /// and compares what was read with what the disk has: after a sync of the writer that failed they
  /// may differ.
  mutating func syncedEnd(after start: ChainPoint) throws -> (end: ChainPoint, isAll: Bool) {
    let search = try searchEnd(after: start)
    let end = search.point
    if end.offset <= start.offset { return (start, true) }
    let proven = max(search.provenMark, start.offset)
    if end.offset <= proven { return (end, true) }
    if try sync(proven..<end.offset) { return (end, true) }
    return (try lastUnit(from: start, upTo: proven), false)
  }

  /// Syncs the file; returns whether the disk then has these bytes as they were read before.
  private func sync(_ range: Range<UInt64>) throws -> Bool {
    let before = try checksum(of: range, pastCache: false)
    do throws(StorageError) {
      try file.sync()
    } catch {
      return false
    }
    return try checksum(of: range, pastCache: true) == before
  }

  private func checksum(of range: Range<UInt64>, pastCache: Bool) throws -> UInt32 {
    var offset = range.lowerBound
    var result: UInt32 = 0
    while offset < range.upperBound {
      let place = offset
      let bytes = try ContiguousArray<UInt8>(
        count: Int(min(range.upperBound - offset, 1 << 20))
      ) { buffer throws(StorageError) in
        let buffer = UnsafeMutableRawBufferPointer(buffer)
        if pastCache, let count = try file.readPastCache(into: buffer, at: place) { return count }
        return try file.read(into: buffer, at: place)
      }
      if bytes.isEmpty { break }
      result = bytes.withUnsafeBytes { Checksum.crc32($0, startingFrom: result) }
      offset += UInt64(bytes.count)
    }
    return result
  }

  private mutating func searchEnd(after start: ChainPoint) throws -> EndSearch {
    var tries = 0
    while true {
      let window = FileWindow(file, size: try file.size(), leastRead: 4096)
      let search = try EndSearch(
        in: FrameWalk(window, seed: header.seed, from: start), slots: EndSearch.Slots(slots),
        passesUnknown: false)
      if let why = search.why, why.isNewer {
        throw AnnalsError(
          .newerVersion,
          "\(path) was written by a newer version of Annals (\(why.reason)). Ship it with that one",
          offset: search.badSpot)
      }
      guard case .damaged = search.tail else { return search }
      tries += 1
      let before = slots
      slots = try readSlots()
      // A writer may have been at it; and a file that stays so is damaged.
      if tries < SyncedLog.mostTries, slots != before || tries < 3 {
        sleepThread(for: .milliseconds(2))
        continue
      }
      throw AnnalsError(
        .damaged,
        "\(path) is damaged: \(search.reason). What was shipped before is as it was. Verify the "
          + "file to see what is affected; salvaging it saves everything readable",
        offset: search.badSpot)
    }
  }

  /// The end of the last unit that ends at or before `limit`.
  private func lastUnit(from start: ChainPoint, upTo limit: UInt64) throws -> ChainPoint {
    let window = FileWindow(file, size: limit, leastRead: 4096)
    var walk = FrameWalk(window, seed: header.seed, from: start)
    var end = start
    while case .frame(let frame) = try walk.next() {
      if frame.header.closesUnit { end = walk.point }
    }
    return end
  }
}
