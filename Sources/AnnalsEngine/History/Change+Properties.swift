import AnnalsModel

extension Change {
  /// The properties that a change touched, with their values. Each value is decoded when it is
  /// read.
  public struct Properties: Sendable, RandomAccessCollection, CustomStringConvertible {
    @usableFromInline let page: TransactionPage
    @usableFromInline let transaction: Int
    @usableFromInline let change: Int
    /// The page index of the first property.
    @usableFromInline let first: Int
    /// How many properties there are.
    public let count: Int

    init(_ change: Change) {
      page = change.page
      transaction = change.transaction
      self.change = change.index
      let entry = change.page.batch.changes[change.index]
      first = Int(entry.firstProperty)
      count = Int(entry.propertyCount)
    }

    /// 0.
    public var startIndex: Int { 0 }

    /// The count.
    public var endIndex: Int { count }

    /// The property at this position, with its values. O(1).
    public subscript(position: Int) -> PropertyDifference {
      insist(position >= 0 && position < count, "no changed property at \(position)")
      return PropertyDifference(
        page: page, position: first + position, change: change, transaction: transaction)
    }

    /// The difference of the property with this number; nil if it was not touched.
    package func first(of property: PropertyNumber) -> PropertyDifference? {
      for position in first..<first + count
      where page.batch.properties[position].property == property {
        return PropertyDifference(
          page: page, position: position, change: change, transaction: transaction)
      }
      return nil
    }

    /// The differences, printed as a list.
    public var description: String { Array(self).description }

    /// Calls the closure with each difference, in order.
    ///
    /// The fastest way through all values: a loop retains and releases the page for each
    /// difference, this call does not.
    @inlinable
    public func forEach(_ body: (PropertyDifference) throws -> Void) rethrows {
      for position in first..<first + count {
        try body(
          PropertyDifference(
            page: page, position: position, change: change, transaction: transaction))
      }
    }

    /// An iterator over the differences.
    @inlinable
    public func makeIterator() -> Iterator { Iterator(self) }

    /// Iterates over the differences.
    public struct Iterator: IteratorProtocol {
      @usableFromInline let page: TransactionPage
      @usableFromInline let transaction: Int
      @usableFromInline let change: Int
      @usableFromInline var position: Int
      @usableFromInline let end: Int

      @inlinable
      init(_ properties: Properties) {
        page = properties.page
        transaction = properties.transaction
        change = properties.change
        position = properties.first
        end = properties.first + properties.count
      }

      /// The next difference; nil after the last.
      @inlinable
      public mutating func next() -> PropertyDifference? {
        guard position < end else { return nil }
        defer { position += 1 }
        return PropertyDifference(
          page: page, position: position, change: change, transaction: transaction)
      }
    }
  }
}
