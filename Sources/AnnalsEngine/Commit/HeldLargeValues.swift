import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsStorage

/// The new large values of a draft that is kept outside of a write, and those that the store has.
///
/// New ones stay in memory until the draft is committed, under numbers that no store gives. Safe on
/// any thread.
package final class HeldLargeValues: LargeValueSink {
  private let stored: Locked<any LargeValueSource>
  private let held = Locked<[ContiguousArray<UInt8>]>([])
  /// The lowest number of a held value.
  private static let firstNumber: UInt64 = 1 << 63

  /// None yet; `stored` reads those of the store.
  package init(stored: any LargeValueSource) { self.stored = Locked(stored) }

  package var isPending: Bool { true }

  /// Whether none is held.
  var isEmpty: Bool { held.withLock { $0.isEmpty } }

  /// Reads those of the store from here on from another generation of it.
  func read(from source: any LargeValueSource) { stored.withLock { $0 = source } }

  /// Keeps the bytes in memory.
  package func add(
    _ bytes: ContiguousArray<UInt8>, tag: ValueTag
  ) throws(AnnalsError) -> LargeValue {
    let index = held.withLock { held in
      held.append(bytes)
      return held.count - 1
    }
    return LargeValue(
      tag: tag, number: HeldLargeValues.firstNumber + UInt64(index), length: UInt64(bytes.count),
      checksum: bytes.withUnsafeBytes { Checksum.crc32($0) })
  }

  package func bytes(of value: LargeValue) throws(AnnalsError) -> ContiguousArray<UInt8> {
    guard HeldLargeValues.holds(value) else {
      return try stored.withLock { $0 }.bytes(of: value)
    }
    return held.withLock { $0[Int(value.number - HeldLargeValues.firstNumber)] }
  }

  package func cursor(of value: LargeValue) throws(AnnalsError) -> LargeValueCursor? {
    try HeldLargeValues.holds(value) ? nil : stored.withLock { $0 }.cursor(of: value)
  }

  /// Whether a value of a draft is held in memory, and not in the store.
  static func holds(_ value: LargeValue) -> Bool { value.number >= firstNumber }
}
