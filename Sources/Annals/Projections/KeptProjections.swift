import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsStorage

/// The projections that one opening of a store keeps, one slot for each registered type.
///
/// No slot is held while the writer's lock is waited for, and the code of a projection cannot take
/// it, so that nobody waits for ever.
final class KeptProjections: Sendable {
  /// Where what is published comes from, and who must not come back.
  let head: StoreHead
  let barred: BarredThreads
  let clock: @Sendable () -> Timestamp
  private let slots = Locked<[any AnyProjectionSlot]>([])

  init(_ writer: StoreWriter, clock: @escaping @Sendable () -> Timestamp) {
    head = writer.head
    barred = writer.barred
    self.clock = clock
  }

  /// The slot of a type, made if there is none. Traps for a second type of one name, and for names
  /// and versions that cannot be stored.
  func slot<P: Projection>(of type: P.Type) -> ProjectionSlot<P> {
    // The program's code may do what it likes, so no lock is held.
    let (name, version) = (P.name, P.version)
    return slots.withLock { slots in
      if let slot = slots.first(where: { $0.name.hasSameBytes(as: name) }) {
        guard let slot = slot as? ProjectionSlot<P> else {
          preconditionFailure("two projections, of which one is \(P.self), are named \"\(name)\"")
        }
        return slot
      }
      precondition(
        1...SavedProjection.maximumName ~= name.utf8.count,
        "the name of \(P.self) must have 1 to 255 bytes of UTF-8")
      precondition(version >= 0, "the version of \(P.self) is negative")
      let slot = ProjectionSlot<P>(self, name: name, version: Int64(version))
      slots.append(slot)
      return slot
    }
  }

  /// All slots, in the order in which their types were registered.
  var all: [any AnyProjectionSlot] { slots.withLock { $0 } }

  /// What is to be saved of all of them; those that fail are left out.
  func imagesOfAll() -> [ProjectionImage] {
    // On a barred thread what comes next traps; this says it in the same words.
    barred.requireOutside("a write, checkpoint or refresh")
    return all.compactMap { try? $0.image() }
  }

  /// Throws `.unsupported` if one of them has a saved state and cannot be made without, which the
  /// file of `what` would be.
  func requireMakeable(in version: StoreVersion, for what: String) throws(AnnalsError) {
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

  /// What is to be saved of all of them. Throws if one of them fails.
  func imagesOfAllOrThrow() throws(AnnalsError) -> [ProjectionImage] {
    var images: [ProjectionImage] = []
    for slot in all {
      if let image = try slot.image() { images.append(image) }
    }
    return images
  }
}

extension KeptProjections: ProjectionKeeper {
  var unsavedChanges: Int { all.map(\.unsavedChanges).max() ?? 0 }

  func noteSaved(_ images: [ProjectionImage]) {
    for slot in all where images.contains(where: { $0.name.hasSameBytes(as: slot.name) }) {
      slot.noteSaved()
    }
  }

  func imagesToSave() -> [ProjectionImage] { all.compactMap { try? $0.imageIfFree() } }
}

/// What the store does with a projection of whatever type.
protocol AnyProjectionSlot: Sendable {
  var name: String { get }
  /// How many changes were taken in since the value was last saved, or begun.
  var unsavedChanges: Int { get }
  /// Throws `.pruned` if the value cannot be made of the state at the base.
  func requireMakeable(in version: StoreVersion) throws(AnnalsError)
  /// Notes that the value was saved. Takes no turn.
  func noteSaved()
  /// The value to save, level with the newest transaction; nil if it is saved already, or cannot be
  /// as it is too long. Waits for its turn.
  func image() throws(AnnalsError) -> ProjectionImage?
  /// As `image()`, if the value was read and nobody is just at work on it; otherwise nil.
  func imageIfFree() throws(AnnalsError) -> ProjectionImage?
  /// What makes the projection anew and compares, beginning at the base of the version.
  func makeRebuild(in version: StoreVersion) throws(AnnalsError) -> any AnyProjectionRebuild
}
