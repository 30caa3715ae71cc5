import AnnalsFormat
import AnnalsFrames
import AnnalsStorage

/// What has the name of an unfinished file, after stale leftovers of dead creators were removed.
///
/// Removes only what certainly nobody needs: a file with the stamp of unfinished files, an empty
/// file, another name of the store itself, and a finished file that was never put in place and
/// holds nothing that the store beside it lacks. Everything else is left alone.
enum Leftover {
  /// No file.
  case none
  /// A file whose creator holds its lock.
  case inUse
  /// Another file, and why it is not removed.
  case foreign(String)

  /// The existing store, as far as it decides what a leftover may hold.
  struct ExistingStore {
    var header: FileHeader
    var head: Int64
  }

  /// Removes what a dead creator left at `path` of a file for `destination`; `known` is the store
  /// there. Reads three blocks. Throws only if a stale file cannot be removed.
  static func clear(
    _ path: String, of destination: String, known: ExistingStore?, in fileSystem: any FileSystem
  ) throws(LogError) -> Leftover {
    try clear(path, of: destination, in: fileSystem) { (start, size) in
      UnfinishedStamp.marks(start, size: size)
        ? nil : FirstBlocks(start).reasonToKeep(size: size, beside: known)
    }
  }

  /// Removes the store at `path` that a dead import left when it made a base for the store at
  /// `destination`. Throws as `clear` does.
  static func clearScratch(
    _ path: String, of destination: String, in fileSystem: any FileSystem
  ) throws(LogError) -> Leftover {
    try clear(path, of: destination, in: fileSystem) { (start, _) in
      FirstBlocks(start).header?.store == NewLog.scratchStore
        ? nil : "no import that was cut short has left it"
    }
  }

  private static func clear(
    _ path: String, of destination: String, in fileSystem: any FileSystem,
    reasonToKeep: (UnsafeRawBufferPointer, UInt64) -> String?
  ) throws(LogError) -> Leftover {
    do throws(StorageError) {
      guard let place = try fileSystem.identity(of: path) else { return .none }
      // On a file system without an exclusive rename a creator links the finished file into place
      // before it removes this name: then the file is the store itself, and only the name is stale.
      if try fileSystem.identity(of: destination) == place {
        try fileSystem.remove(path)
        return .none
      }
    } catch {
      if error.isMissing { return .none }
      throw .storage(error)
    }
    let file: any StorageFile
    do throws(StorageError) {
      file = try fileSystem.open(path, for: .reading)
    } catch {
      return error.isMissing ? .none : .foreign(error.reason)
    }
    defer { file.close() }
    do throws(StorageError) {
      guard try file.lock(.exclusive, wait: .none) else { return .inUse }
      let size = try file.size()
      let start = try file.bytes(Int(FormatLimits.logStart), at: 0)
      if let reason = start.withUnsafeBytes({ reasonToKeep($0, size) }) { return .foreign(reason) }
    } catch {
      return .foreign(error.reason)
    }
    do throws(StorageError) {
      if try fileSystem.identity(of: path) == file.identity() { try fileSystem.remove(path) }
      return .none
    } catch {
      if error.isMissing { return .none }
      throw .storage(error)
    }
  }
}

/// The header and slots of a finished file. If the power failed while its header was written, the
/// slots, which were synced before, repeat it.
private struct FirstBlocks {
  let header: FileHeader?
  /// Whether the header itself is whole; if not, it comes from a slot.
  private let isHeaderWhole: Bool
  /// The newest slot that belongs to the header.
  private var slot: RootSlot?

  init(_ bytes: UnsafeRawBufferPointer) {
    var header = try? FileHeader.decode(bytes)
    isHeaderWhole = header != nil
    for (index, offset) in FormatLimits.slotOffsets.enumerated() where bytes.count > Int(offset) {
      let block = UnsafeRawBufferPointer(
        rebasing: bytes[Int(offset)...].prefix(FormatLimits.blockLength))
      guard let known = header ?? RootSlot.header(in: block),
        let found = try? RootSlot.decode(block, index: index, seed: known.seed)
      else { continue }
      header = known
      if found.sequence > slot?.sequence ?? 0 { slot = found }
    }
    self.header = header
  }

  /// Why the file must not be removed; nil if it may be.
  func reasonToKeep(size: UInt64, beside known: Leftover.ExistingStore?) -> String? {
    guard let header, let slot else { return "it is no unfinished file of Annals" }
    let isEmpty =
      size <= FormatLimits.logStart && slot.durableMark == FormatLimits.logStart
      && header.generation == 1 && header.baseCheckpointOffset == 0
    if isEmpty { return nil }
    if let known, header.store == known.header.store,
      header.generation == known.header.generation + 1, header.base >= known.header.base,
      slot.head <= known.head
    {
      return nil
    }
    guard isHeaderWhole else {
      return "it is a store whose header is damaged, or was being written when the power failed; "
        + "salvaging it reads it"
    }
    return "it is a whole store, perhaps the result of a replay or salvage that was cut short "
      + "before it had its name"
  }
}
