import Annals
import AnnalsEngine
import AnnalsFormat
import AnnalsFrames
import AnnalsModel
import AnnalsStorage
import SystemPackage

/// Ships a store's file to a folder, pass by pass: each ships what was synced since the last.
///
/// It reads the file and takes no lock of it, so the store's users need not know of it. It holds
/// the lock of the folder, so two do not ship into one; `close()` or the last reference releases
/// it. Used by one thread at a time.
public final class Shipper {
  private let file: String
  private let fileSystem: any FileSystem
  private let folder: ShippingFolder
  private let options: ShippingOptions
  private let environment: StoreEnvironment
  private let lock: any StorageFile
  /// Where the newest base and its segments end; nil if the folder must be looked at.
  private var shipped: ShippedEnd?
  /// Whether a base may have to be removed.
  private var looksBack = true

  /// Makes the folder if it is missing, and takes its lock.
  ///
  /// - Parameters:
  ///   - file: the path of the store's file.
  ///   - folder: the path of the folder.
  ///   - options: what is kept.
  ///   - environment: the clock for what is kept.
  /// - Throws: `.busy` if somebody else ships into the folder; `.io`, `.permission`.
  public convenience init(
    _ file: String, to folder: String, options: ShippingOptions = ShippingOptions(),
    environment: StoreEnvironment = .system
  ) throws(AnnalsError) {
    try self.init(
      file, in: PosixFileSystem(), to: ShippingFolder(folder), options: options,
      environment: environment)
  }

  /// As the public form, between any file systems.
  package init(
    _ file: String, in fileSystem: any FileSystem, to folder: ShippingFolder,
    options: ShippingOptions = ShippingOptions(), environment: StoreEnvironment = .system
  ) throws(AnnalsError) {
    self.file = file
    self.fileSystem = fileSystem
    self.folder = folder
    self.options = options
    self.environment = environment
    lock = try AnnalsError.shipping {
      try folder.makeIfMissing()
      return try Shipper.lock(folder)
    }
  }

  private static func lock(_ folder: ShippingFolder) throws -> any StorageFile {
    let path = "\(folder.path)/\(ShippingFolder.lockName)"
    let file = try openOrCreate(path, in: folder.fileSystem)
    do throws(StorageError) {
      if try file.lock(.exclusive, wait: .none) { return file }
    } catch  where error.errno == .notSupported || error.errno == .noLocks {
      // Without locks the second of two fails to add a file, and nothing is overwritten.
      return file
    } catch {
      throw error
    }
    let holder = file.lockHolder().map { " (\($0))" } ?? ""
    file.close()
    throw AnnalsError(
      .busy,
      "another program ships into \(folder.path)\(holder); end that one, or use another "
        + "folder")
  }

  private static func openOrCreate(
    _ path: String, in fileSystem: any FileSystem
  ) throws(StorageError) -> any StorageFile {
    do throws(StorageError) {
      return try fileSystem.open(path, for: .writing)
    } catch {
      guard error.isMissing else { throw error }
    }
    do throws(StorageError) {
      return try fileSystem.create(path, like: nil)
    } catch {
      // Another program was faster.
      guard error.isTaken else { throw error }
      return try fileSystem.open(path, for: .writing)
    }
  }

  /// Releases the lock of the folder. Safe to call again.
  public func close() { lock.close() }

  deinit { close() }

  /// Ships what was synced since the last pass: as segments, or, if the file was rewritten or the
  /// last base is far behind, as a new base.
  ///
  /// Costs reading what is new, and for a base reading the file three times. Memory: 1 MiB, or one
  /// block. Files appear whole or not at all, and none is changed later.
  ///
  /// - Returns: what was shipped.
  /// - Throws: `.notFound`, `.notAnAnnalsFile`, `.newerVersion`; `.otherStore` if the folder is of
  ///   another store; `.damaged`, with the offset, if what is new in the file is damaged;
  ///   `.noSpace`, `.permission`, `.io`. Then the folder has what it had, and perhaps some of what
  ///   is new; a later pass goes on from there.
  public func pass() throws(AnnalsError) -> ShippingReport {
    do throws(AnnalsError) {
      return try AnnalsError.shipping { try run() }
    } catch {
      shipped = nil
      throw error
    }
  }

  private func run() throws -> ShippingReport {
    var log = try SyncedLog(file, in: fileSystem)
    var report = ShippingReport()
    var reason: ShippingReport.NewBase?
    if shipped == nil {
      do {
        shipped = try folder.findEnd(of: log.header.store)
        if shipped == nil { reason = .first }
      } catch let fault as ShippingFault where !fault.isNewer {
        reason = .incomplete(fault.text)
      }
      try folder.syncNames()
    }
    report.headBefore = shipped?.head
    if let shipped, reason == nil { reason = try whyNewBase(log, shipped) }
    if reason == nil, let shipped {
      reason = try addSegments(&log, after: shipped, &report)
    }
    if let reason { try addBase(&log, reason, &report) }
    report.base = shipped?.base ?? 0
    report.head = shipped?.head ?? 0
    if report.newBase != nil || looksBack && options.looksBack {
      try removeOld(&report)
    }
    looksBack = false
    return report
  }

  /// Why the file cannot go on where the last segment ended.
  private func whyNewBase(
    _ log: SyncedLog, _ shipped: ShippedEnd
  ) throws -> ShippingReport.NewBase? {
    if log.header.generation != shipped.name.generation { return .rewritten }
    return try log.hasFrame(before: shipped.point) ? nil : .branched
  }

  /// Adds what is new as segments. Returns why it must be a base instead.
  private func addSegments(
    _ log: inout SyncedLog, after start: ShippedEnd, _ report: inout ShippingReport
  ) throws -> ShippingReport.NewBase? {
    let (end, isAll) = try log.syncedEnd(after: start.point)
    report.hasUnsynced = !isAll
    var shipped = start
    let fresh = end.offset - start.point.offset
    if fresh > 0, shipped.isFar(adding: fresh, options) { return .manySegments }
    while shipped.point.offset < end.offset {
      let stretch = try LogStretch(
        of: log.file, log.header, from: shipped.point, upTo: end.offset,
        most: SegmentHeader.usualLimit)
      var header = SegmentHeader(
        name: shipped.name.next, from: shipped.point, to: stretch.end, headBefore: shipped.head,
        head: stretch.head ?? shipped.head, timestamp: stretch.timestamp)
      try folder.add(header.name, like: original) { file in
        let copied = try file.copy(
          header.start..<header.end, of: log.file, to: UInt64(SegmentHeader.length))
        guard copied.count == header.byteCount else {
          throw AnnalsError(.damaged, "\(log.path) was cut while it was read")
        }
        header.checksum = copied.checksum
        try file.write(header.encode(), at: 0)
      }
      shipped.add(header)
      report.segments += 1
      report.bytes += header.byteCount + UInt64(SegmentHeader.length)
      self.shipped = shipped
    }
    return nil
  }

  /// Adds a base: the whole file up to where it is synced.
  private func addBase(
    _ log: inout SyncedLog, _ reason: ShippingReport.NewBase, _ report: inout ShippingReport
  ) throws {
    let start = ChainPoint(beginningOf: log.header)
    let (end, isAll) = try log.syncedEnd(after: start)
    report.hasUnsynced = !isAll
    let stretch = try LogStretch(of: log.file, log.header, from: start, upTo: end.offset)
    let number = (try folder.contents().series.last?.number ?? 0) + 1
    let name = ShippedName(
      store: log.header.store, base: number, generation: log.header.generation, order: 0)
    let slot = RootSlot(endingAfter: stretch, of: log.header)
    try folder.add(name, like: original) { file in
      var header = log.header
      try file.write(header.encode(with: slot), at: 0)
      _ = try file.copy(
        FormatLimits.logStart..<end.offset, of: log.file, to: FormatLimits.logStart)
      try StoreWriter.requireSound(file, copiedFrom: log.file)
    }
    shipped = ShippedEnd(base: name, end: stretch.end, head: slot.head)
    report.newBase = reason
    report.bytes += end.offset
  }

  /// The file whose mode the files of the folder get; nil if it is not on the same disks.
  private var original: String? {
    (try? folder.fileSystem.identity(of: file)) == nil ? nil : file
  }

  /// Removes bases that need not be kept, or must not.
  private func removeOld(_ report: inout ShippingReport) throws {
    guard let newest = shipped else { return }
    let upkeep = try FolderUpkeep(folder: folder, newest: newest, options: options, environment)
    if report.newBase != nil || options.forgetsErased {
      report.holdErased = try upkeep.basesWithErased()
    }
    report.removed = try upkeep.removeOld(holdErased: report.holdErased)
    if options.forgetsErased { report.holdErased = [] }
  }
}

extension ShippingOptions {
  /// Whether older bases may have to be removed.
  fileprivate var looksBack: Bool { forgetsErased || keptBases != nil || keptFor != nil }
}
