import Annals
import AnnalsStorage

/// One file that is shown: as a store where it can be opened as one, and as bytes in any case.
package final class InspectedFile: Sendable {
  /// The name by which requests ask for it.
  package let name: String
  /// The path, with links followed.
  package let path: String
  /// The path as it was given, for commands.
  package let shownPath: String
  private let environment: StoreEnvironment
  private let zone: LocalZone
  private let current = Locked<OpenedStore?>(nil)
  /// One request at a time opens the store.
  private let opening = Locked(())

  let space = Survey<SpaceDocument>()
  let findings = Survey<FindingsDocument>()
  let strip = Survey<FileStrip>()

  package init(
    name: String, path: String, shownPath: String, environment: StoreEnvironment = .system,
    zone: LocalZone = .current
  ) {
    self.name = name
    self.path = (try? PosixFileSystem().resolve(path)) ?? path
    self.shownPath = shownPath
    self.environment = environment
    self.zone = zone
  }

  /// A file whose store is open already.
  package convenience init(
    _ store: OpenedStore, shownPath: String, environment: StoreEnvironment
  ) {
    self.init(
      name: shownPath, path: store.path, shownPath: shownPath, environment: environment,
      zone: store.zone)
    current.withLock { $0 = store }
  }

  /// The store, opened if it is not; anew if its file was replaced, or was damaged and may be whole
  /// again. Throws as opening a store does.
  package func opened() throws(AnnalsError) -> OpenedStore {
    let place = try FileReading.stamp(of: path).inode
    if let known = known(at: place) { return known }
    return try opening.withLock { (_) throws(AnnalsError) in
      if let known = known(at: place) { return known }
      let store = try OpenedStore(path: path, environment: environment, zone: zone)
      current.withLock { $0 = store }
      return store
    }
  }

  /// The open store, if commits of other processes arrive at it, and the file at the path is its.
  private func known(at place: UInt64) -> OpenedStore? {
    guard let store = current.withLock({ $0 }) else { return nil }
    if store.failure == nil, store.isStill(at: place) { return store }
    current.withLock { if $0 === store { $0 = nil } }
    return nil
  }

  /// Whether the store is open.
  package var isOpen: Bool { current.withLock { $0 != nil } }

  /// Closes the store, if it is open. Whoever reads it meanwhile reads on.
  package func close() { current.withLock { $0 = nil } }

  /// Which bytes the file has now.
  func stamp() throws(AnnalsError) -> FileStamp { try FileReading.stamp(of: path) }
}
