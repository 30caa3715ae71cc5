import AnnalsModel

extension Change {
  /// The properties that a change touched, with their values; each is read when it is looked at.
  public struct Properties: Sendable, RandomAccessCollection, CustomStringConvertible {
    private let page: TransactionPage
    private let kind: ChangeKind
    private let first: Int
    private let names: PropertyNames.OfEntity?

    /// How many properties there are.
    public let count: Int

    init(_ change: Change) {
      page = change.page
      let entry = page.batch.changes[change.index]
      kind = entry.kind
      first = entry.propertyRange.lowerBound
      count = entry.propertyRange.count
      names = page.names(asOf: page.batch.transactions[change.transaction].number)
        .names(of: entry.entity)
    }

    /// 0.
    public var startIndex: Int { 0 }

    /// The count.
    public var endIndex: Int { count }

    /// The property at this position, with its values. O(length of the values).
    public subscript(position: Int) -> PropertyDifference {
      precondition(position >= 0 && position < count, "no changed property at \(position)")
      return difference(page.batch.properties[first + position])
    }

    /// The difference in the property with this number; nil if there is none.
    func first(of property: PropertyNumber) -> PropertyDifference? {
      for position in first..<first + count
      where page.batch.properties[position].property == property {
        return difference(page.batch.properties[position])
      }
      return nil
    }

    @inline(__always)
    private func difference(_ change: PropertyChange) -> PropertyDifference {
      let name = names?.name(of: change.property) ?? "#\(change.property)"
      if change.isEdits { return edits(change, name: name) }
      return PropertyDifference(
        number: change.property, name: name,
        before: value(change.before, of: change.property, exists: kind != .insert),
        after: value(change.after, of: change.property, exists: kind != .delete), edits: nil)
    }

    /// The value of a cell. A null in a required attribute of an object that exists stands for its
    /// default, as in every reading.
    @inline(__always)
    private func value(
      _ cell: ValueCell, of property: PropertyNumber, exists: Bool
    ) -> Value {
      if cell.isNull {
        return exists ? names?.unwritten(property) ?? .null : .null
      }
      return page.batch.arena.withUnsafeBytes { cell.value(in: $0) }
    }

    private func edits(_ change: PropertyChange, name: String) -> PropertyDifference {
      page.batch.arena.withUnsafeBytes { arena in
        PropertyDifference(
          number: change.property, name: name, before: .null, after: .null,
          edits: RelationshipEdits(
            removed: RelationshipEdits.list(change.before, in: arena),
            inserted: RelationshipEdits.list(change.after, in: arena)))
      }
    }

    /// The differences, as of a list.
    public var description: String { Array(self).description }

    /// An iterator over the differences.
    public func makeIterator() -> Iterator { Iterator(properties: self) }

    /// Walks the differences.
    public struct Iterator: IteratorProtocol {
      private let properties: Properties
      private var position = 0

      init(properties: Properties) { self.properties = properties }

      /// The next difference; nil after the last.
      public mutating func next() -> PropertyDifference? {
        guard position < properties.count else { return nil }
        defer { position += 1 }
        return properties.difference(
          properties.page.batch.properties[properties.first + position])
      }
    }
  }
}
