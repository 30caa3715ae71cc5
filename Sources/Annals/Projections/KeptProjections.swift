import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsStorage

/// The projections of one opening of a store, one slot for each registered type.
///
/// No slot is held while waiting for the writer's lock, and the code of a projection cannot take
/// that lock; so there is no deadlock.
final class KeptProjections: Sendable {
  /// Where published versions come from, and which threads are barred.
  let head: StoreHead
  let barred: BarredThreads
  let clock: @Sendable () -> Timestamp
  private let slots = Locked<[any AnyProjectionSlot]>([])

  init(_ writer: StoreWriter, clock: @escaping @Sendable () -> Timestamp) {
    head = writer.head
    barred = writer.barred
    self.clock = clock
  }

  /// The slot of a type; makes it if there is none. Traps for a second type with the same name, and
  /// for names and versions that cannot be stored.
  func slot<P: Projection>(of type: P.Type) -> ProjectionSlot<P> {
    // No lock is held, since this calls the program's code.
    let (name, version) = (P.name, P.version)
    return slots.withLock { slots in
      if let slot = slots.first(where: { $0.name.hasSameBytes(as: name) }) {
        guard let slot = slot as? ProjectionSlot<P> else {
          stop("two projections, of which one is \(P.self), are named \"\(name)\"")
        }
        return slot
      }
      insist(
        1...SavedProjection.maximumName ~= name.utf8.count,
        "the name of \(P.self) must have 1 to 255 bytes of UTF-8")
      insist(version >= 0, "the version of \(P.self) is negative")
      let slot = ProjectionSlot<P>(self, name: name, version: Int64(version))
      slots.append(slot)
      return slot
    }
  }

  /// All slots, in the order of registration.
  var all: [any AnyProjectionSlot] { slots.withLock { $0 } }

}

// How the writer saves the projections with its checkpoints.
extension KeptProjections: ProjectionSaving {
  var unsavedChanges: Int { all.map(\.unsavedChanges).max() ?? 0 }

  func imagesToSave() -> [ProjectionImage] { all.compactMap { try? $0.imageIfFree() } }

  func imagesOfWorking() -> [ProjectionImage] {
    // On a barred thread the next call would trap; this traps first, with the same message.
    barred.requireOutside("a write, checkpoint or refresh")
    return all.compactMap { try? $0.image() }
  }

  func requireMakeable(_ version: StoreVersion, _ what: String) throws(AnnalsError) {
    guard version.base.number > 0 else { return }
    let saved = version.view.savedProjections
    for slot in all where saved.contains(where: { $0.isNamed(slot.name) }) {
      do throws(AnnalsError) {
        try slot.requireMakeable(in: version)
      } catch {
        guard error.code == .pruned else { throw error }
        throw AnnalsError(
          .unsupported,
          "\(what) would be without the saved state of the projection \"\(slot.name)\", "
            + "which is made of history that is pruned; nothing was changed")
      }
    }
  }

  func imagesOfAll() throws(AnnalsError) -> [ProjectionImage] {
    var images: [ProjectionImage] = []
    for slot in all {
      if let image = try slot.image() { images.append(image) }
    }
    return images
  }

  func noteSaved(_ images: [ProjectionImage]) {
    for slot in all where images.contains(where: { $0.name.hasSameBytes(as: slot.name) }) {
      slot.noteSaved()
    }
  }
}

/// A projection slot of any type.
protocol AnyProjectionSlot: Sendable {
  var name: String { get }
  /// How many changes were applied since the value was last saved, or begun.
  var unsavedChanges: Int { get }
  /// Throws `.pruned` if the value cannot be made from the state at the base.
  func requireMakeable(in version: StoreVersion) throws(AnnalsError)
  /// Notes that the value was saved. Does not wait for a turn.
  func noteSaved()
  /// The value to save, brought up to the newest transaction; nil if that is saved already, or too
  /// long to save. Waits for its turn.
  func image() throws(AnnalsError) -> ProjectionImage?
  /// As `image()`, if the value was read and no thread is using it; otherwise nil.
  func imageIfFree() throws(AnnalsError) -> ProjectionImage?
  /// A rebuild of the projection from the version's base, to compare it with.
  func makeRebuild(in version: StoreVersion) throws(AnnalsError) -> any AnyProjectionRebuild
}
