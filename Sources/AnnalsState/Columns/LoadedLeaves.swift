import Synchronization

/// The sixteen leaves of a stored column, each there once somebody has read it: stored once,
/// atomically, by whichever thread is first.
///
/// Used from any thread. Its memory is taken with the first leaf.
struct LoadedLeaves: ~Copyable, @unchecked Sendable {
  /// The address of the slots, 0 for none. A slot is 0 while its leaf is not read, `noValue`, or
  /// the leaf's address.
  private let table = Atomic<UInt>(0)

  private typealias Slot = Atomic<UInt>

  /// A leaf that was read, and of which no row has a value.
  private static let noValue: UInt = 1

  deinit {
    guard let slots else { return }
    for index in 0..<RowPosition.leafCount {
      LoadedLeaves.leaf(at: slots[index].load(ordering: .acquiring))?.release()
    }
    LoadedLeaves.free(slots)
  }

  @inline(__always)
  private var slots: UnsafeMutablePointer<Slot>? {
    UnsafeMutablePointer(bitPattern: table.load(ordering: .acquiring))
  }

  @inline(__always)
  private static func leaf(at address: UInt) -> Unmanaged<Leaf>? {
    guard address != noValue, let pointer = UnsafeRawPointer(bitPattern: address) else {
      return nil
    }
    return .fromOpaque(pointer)
  }

  /// One of the leaves if it was read, without a reference counted: valid as long as this.
  @inline(__always)
  subscript(index: Int) -> (isLoaded: Bool, leaf: Unmanaged<Leaf>?) {
    guard let slots else { return (false, nil) }
    let address = slots[index].load(ordering: .acquiring)
    return (address != 0, LoadedLeaves.leaf(at: address))
  }

  /// Whether nothing was read.
  var isEmpty: Bool { slots == nil }

  /// Whether all sixteen were read.
  var isFull: Bool {
    guard let slots else { return false }
    return (0..<RowPosition.leafCount).allSatisfy { slots[$0].load(ordering: .relaxed) != 0 }
  }

  /// Stores a leaf, unless its place has one.
  func storeIfMissing(_ leaf: Leaf?, at index: Int) {
    let retained = leaf.map { Unmanaged.passRetained($0) }
    let address = retained.map { UInt(bitPattern: $0.toOpaque()) } ?? LoadedLeaves.noValue
    let (isStored, _) = slotsForWriting()[index].compareExchange(
      expected: 0, desired: address, ordering: .acquiringAndReleasing)
    if !isStored { retained?.release() }
  }

  /// Stores what another has read, where nothing was.
  func store(_ other: borrowing LoadedLeaves) {
    if other.isEmpty { return }
    for index in 0..<RowPosition.leafCount {
      let known = other[index]
      if known.isLoaded { storeIfMissing(known.leaf?.takeUnretainedValue(), at: index) }
    }
  }

  private func slotsForWriting() -> UnsafeMutablePointer<Slot> {
    if let slots { return slots }
    let new = UnsafeMutablePointer<Slot>.allocate(capacity: RowPosition.leafCount)
    for index in 0..<RowPosition.leafCount { (new + index).initialize(to: Slot(0)) }
    let (isStored, old) = table.compareExchange(
      expected: 0, desired: UInt(bitPattern: new), ordering: .acquiringAndReleasing)
    guard !isStored, let winner = UnsafeMutablePointer<Slot>(bitPattern: old) else { return new }
    LoadedLeaves.free(new)
    return winner
  }

  private static func free(_ slots: UnsafeMutablePointer<Slot>) {
    slots.deinitialize(count: RowPosition.leafCount)
    slots.deallocate()
  }
}
