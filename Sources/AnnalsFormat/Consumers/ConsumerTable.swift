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

  private func holds(_ name: String, at place: Int) -> Bool {
    place < list.count && list[place].name.hasSameBytes(as: name)
  }

  /// The place of the first name that does not precede this one.
  private func place(of name: String) -> Int {
    list.rank { $0.name.precedesInBytes(name) }
  }
}
