import AnnalsEngine
import AnnalsModel
import AnnalsState

// The one mistake in a record type that the compiler cannot see: two properties of one type listed
// in another order than the initialiser's parameters.

extension RecordBinding {
  /// Reads back an object just inserted, and stops the program if properties were exchanged. Always
  /// true otherwise: for `assert`.
  func trapIfExchanged(
    _ value: R, _ row: Int64, _ state: State, _ store: RawUUID,
    _ largeValues: any LargeValueSource
  ) -> Bool {
    guard let back = try? read(row, from: state, store: store, largeValues: largeValues) else {
      return true
    }
    if let (first, second) = exchangedProperties(written: value, read: back) {
      preconditionFailure(
        """
        \(R.self).entity lists the properties "\(first)" and "\(second)" in another order than the \
        initialiser takes them: what is written to one is read from the other
        """)
    }
    return true
  }

  /// The names of two properties of one type that were read from each other's place; nil if there
  /// are none.
  package func exchangedProperties(written: R, read: R) -> (String, String)? {
    let before = comparableValues(of: written)
    let after = comparableValues(of: read)
    for index in before.indices where before[index] != after[index] {
      for other in before.indices
      where other != index && before[other] == after[index] && !after[index].isNull {
        return (layout.names[index], layout.names[other])
      }
    }
    return nil
  }

  /// The values of a record, to-many relationships without their order where it does not count.
  private func comparableValues(of value: R) -> [Value] {
    zip(record.accesses, layout.columns).map { access, column in
      let value = access.value(value)
      guard column.isToMany, !column.isOrdered, case .objects(let list) = value else {
        return value
      }
      return .objects(list.sortedAndUnique())
    }
  }
}
