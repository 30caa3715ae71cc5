import AnnalsModel

// How programs declare and recognise the kinds of indexes that have a name.

extension RecordEntity {
  /// Keeps a box index of two to eight properties that are numbers or dates: `.indexed(byBox:
  /// \.latitude, \.longitude)` serves fetches that ask for a range of each.
  ///
  /// It has no order, and omits objects that lack one of the values. Opening a store throws
  /// `.invalidSchema` for properties of other types.
  public func indexed(byBox keyPaths: PartialKeyPath<R>...) -> RecordEntity {
    adding(index: keyPaths, as: .box)
  }

  /// A partial box index: as `indexed(byBox:)`, with only the objects that meet the condition; see
  /// `indexed(by:where:)`.
  public func indexed(
    byBox keyPaths: PartialKeyPath<R>...,
    where condition: @autoclosure @escaping @Sendable () -> RecordCondition<R>
  ) -> RecordEntity {
    adding(index: keyPaths, as: .box, where: condition)
  }
}

extension IndexStatus {
  /// Whether it is a box index: of ranges of all its attributes at once, without an order.
  public var isBox: Bool { kind == .box }
}
