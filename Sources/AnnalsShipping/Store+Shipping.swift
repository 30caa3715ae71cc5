import Annals
import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsStorage

extension Store {
  /// Ships what is new to a folder, from which the store can be restored as of any moment: one pass
  /// of a `Shipper`. For passes again and again keep a `Shipper`.
  ///
  /// Reading and writing go on meanwhile. Safe on any thread.
  ///
  /// - Parameters:
  ///   - folder: the path of the folder, which is made if it is missing.
  ///   - options: what is kept.
  ///   - environment: the clock for what is kept.
  /// - Returns: what was shipped.
  /// - Throws: as `Shipper.pass()`.
  @discardableResult
  public func ship(
    to folder: String, options: ShippingOptions = ShippingOptions(),
    environment: StoreEnvironment = .system
  ) throws(AnnalsError) -> ShippingReport {
    try ship(to: ShippingFolder(folder), options: options, environment: environment)
  }

  /// As the public form, to a folder of any file system.
  @discardableResult
  package func ship(
    to folder: ShippingFolder, options: ShippingOptions = ShippingOptions(),
    environment: StoreEnvironment = .system
  ) throws(AnnalsError) -> ShippingReport {
    let log = writer.log
    let shipper = try Shipper(
      log.path, in: log.fileSystem, to: folder, options: options, environment: environment)
    defer { shipper.close() }
    return try shipper.pass()
  }

  /// Makes a store again from what was shipped, as of a moment.
  ///
  /// The new file is the same store: same UUID, numbers and tokens. It is synced, and verified as a
  /// file, before it gets its name. Every file that is read is checked. A moment that the newest
  /// base no longer has, since history was pruned, is restored from an older one.
  ///
  /// Writes the new file once, or twice for a moment within a sealed block, and reads it three
  /// times. Memory does not grow with the history.
  ///
  /// - Parameters:
  ///   - folder: the path of the folder.
  ///   - path: the new file.
  ///   - position: a number, a token or a date; nil for the newest transaction.
  ///   - environment: the clock, for dates.
  /// - Returns: what was restored.
  /// - Throws: `.notFound` if there is no folder, or nothing in it; `.alreadyExists` if a file
  ///   exists at `path`; `.damaged` or `.missingData` if a file of the folder that is needed is
  ///   damaged or missing, with its name and the last transaction that can be restored;
  ///   `.otherStore` if the folder has files of several stores; as `snapshot(at:)` for a position
  ///   that the history does not have; `.noSpace`, `.permission`, `.io`. Then nothing is at `path`,
  ///   except after `.outcomeUnknown`.
  @discardableResult
  public static func restore(
    from folder: String, to path: String, at position: (any HistoryPosition)? = nil,
    environment: StoreEnvironment = .system
  ) throws(AnnalsError) -> RestoreReport {
    try restore(
      from: ShippingFolder(folder), to: path, in: PosixFileSystem(), environment: environment,
      at: position.map { position in { store in try RestoredPoint(position, in: store) } })
  }

  /// As the public form, with a moment that is found in the history.
  package static func restore(
    from folder: ShippingFolder, to path: String, in fileSystem: any FileSystem,
    environment: StoreEnvironment = .system, at point: ((Store) throws -> RestoredPoint)?
  ) throws(AnnalsError) -> RestoreReport {
    // Files may go while they are read: a base that a newer one has replaced.
    var tries = 0
    while true {
      var restore = FolderRestore(
        folder: folder, path: path, fileSystem: fileSystem, environment: environment, point: point)
      do throws(AnnalsError) {
        return try AnnalsError.shipping { try restore.run() }
      } catch  where error.code == .missingData && tries < 2 {
        tries += 1
      } catch {
        throw error
      }
    }
  }
}
