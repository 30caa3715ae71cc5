import AnnalsModel

/// The name of a file in a shipping folder: `STORE-BASE-gGENERATION-ORDER`, then `.annals` for a
/// base, whose order is 0, or `.segment`.
package struct ShippedName: Hashable, Sendable {
  /// The store's UUID.
  package var store: RawUUID
  /// The number of the base, from 1; segments have that of the base that they continue.
  package var base: UInt64
  /// The generation of the store's file.
  package var generation: UInt64
  /// 0 for the base, then 1, 2, 3 for the segments.
  package var order: UInt64

  package init(store: RawUUID, base: UInt64, generation: UInt64, order: UInt64) {
    self.store = store
    self.base = base
    self.generation = generation
    self.order = order
  }

  /// Reads a name; nil for any other text, also for one of the same numbers written otherwise.
  package init?(_ text: String) {
    guard let dot = text.lastIndex(of: ".") else { return nil }
    let parts = text[..<dot].split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 8, parts[6].first == "g",
      let store = RawUUID(parts[..<5].joined(separator: "-")),
      let base = UInt64(parts[5]), let generation = UInt64(parts[6].dropFirst()),
      let order = UInt64(parts[7]), base > 0
    else { return nil }
    self.init(store: store, base: base, generation: generation, order: order)
    guard self.text.hasSameBytes(as: text) else { return nil }
  }

  package var isBase: Bool { order == 0 }

  /// The name as it is in the folder.
  package var text: String {
    "\(store)-\(ShippedName.padded(base, 6))-g\(generation)-\(ShippedName.padded(order, 8))."
      + (isBase ? "annals" : "segment")
  }

  /// The name of the segment after this file.
  package var next: ShippedName { with(order: order + 1) }

  /// The name of another file of the series: 0 for the base.
  package func with(order: UInt64) -> ShippedName {
    var copy = self
    copy.order = order
    return copy
  }

  private static func padded(_ number: UInt64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(width - digits.utf8.count, 0)) + digits
  }
}
