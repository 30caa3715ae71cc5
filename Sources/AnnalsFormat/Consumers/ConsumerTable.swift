import AnnalsModel

/// The consumers of a store, by the bytes of their names.
package struct ConsumerTable: Equatable, Sendable {
  /// Names rise.
  package private(set) var list: [ConsumerState] = []

  package init() {}

  package var isEmpty: Bool { list.isEmpty }
  package var count: Int { list.count }

  /// The consumer of a name; nil if there is none. O(log n).
  package subscript(name: String) -> ConsumerState? {
    let place = place(of: name)
    return holds(name, at: place) ? list[place] : nil
  }

  /// Applies a change. Removing a missing consumer changes nothing. Returns false, and changes
  /// nothing, if there would be more than `FormatLimits.maximumConsumers`.
  @discardableResult
  package mutating func apply(_ change: ConsumerChange) -> Bool {
    let place = place(of: change.name)
    let isThere = holds(change.name, at: place)
    switch change {
    case .set(let consumer) where isThere: list[place] = consumer
    case .set(let consumer):
      guard list.count < FormatLimits.maximumConsumers else { return false }
      list.insert(consumer, at: place)
    case .remove: if isThere { list.remove(at: place) }
    }
    return true
  }

  /// Notes that a change of a consumer at this offset of the file cannot be read. It may have
  /// registered one that prunes must wait for, so another takes its place: blocking, for ever, and
  /// at the base, so that nothing is dropped before somebody says so.
  package mutating func applyUnreadable(at offset: UInt64, base: Int64, registered: Timestamp) {
    apply(
      .set(
        ConsumerState(
          name: "unreadable record at \(offset)", kind: "damaged", isBlocking: true, lease: nil,
          registered: registered, lastSeen: registered, number: base, openingID: 0)))
  }

  private func holds(_ name: String, at place: Int) -> Bool {
    place < list.count && list[place].name.hasSameBytes(as: name)
  }

  /// The place of the first name that does not precede this one.
  private func place(of name: String) -> Int {
    list.rank { $0.name.precedesInBytes(name) }
  }
}
