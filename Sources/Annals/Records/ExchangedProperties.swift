import AnnalsEngine
import AnnalsModel
import AnnalsState
import AnnalsStorage
import Synchronization

// The one mistake in a record type that the compiler cannot see: two properties of one type listed
// in another order than the initialiser's parameters.

/// Which pairs of properties have one type, and were not yet seen to be read from their own place.
///
/// The first record inserted in which the two of a pair differ settles that pair; where all are
/// settled, inserting costs nothing more.
package final class ExchangeCheck: Sendable {
  /// The positions of two properties in the record type, the smaller first.
  package struct Pair: Sendable {
    package let first: Int
    package let second: Int
  }

  private let open: Locked<ContiguousArray<Pair>>
  private let hasOpen: Atomic<Bool>

  /// Every pair of fields of one type.
  init(_ fields: ContiguousArray<RecordField>) {
    var pairs: ContiguousArray<Pair> = []
    for second in fields.indices {
      for first in 0..<second where fields[first].type == fields[second].type {
        pairs.append(Pair(first: first, second: second))
      }
    }
    hasOpen = Atomic(!pairs.isEmpty)
    open = Locked(pairs)
  }

  /// Whether any pair is not settled.
  package var isOpen: Bool { hasOpen.load(ordering: .relaxed) }

  /// The pairs that are not settled.
  package var pairs: ContiguousArray<Pair> { open.withLock { $0 } }

  /// Settles the pairs of which `isSettled` says so.
  func settle(where isSettled: (Pair) -> Bool) {
    open.withLock { pairs in
      pairs.removeAll(where: isSettled)
      hasOpen.store(!pairs.isEmpty, ordering: .relaxed)
    }
  }
}

extension RecordBinding {
  /// Reads back an object just inserted, if that can show an exchange of properties, and stops the
  /// program if there is one. In release builds too: what it would go on to do with its data is
  /// worse.
  func stopIfExchanged(
    _ value: R, _ row: Int64, _ state: State, _ store: RawUUID,
    _ largeValues: any LargeValueSource
  ) {
    let pairs = exchange.pairs
    let mayTell = withUnsafePointer(to: value) { address in
      pairs.contains { differ($0, in: UnsafeRawPointer(address)) }
    }
    guard mayTell,
      let back = try? read(row, from: state, store: store, largeValues: largeValues)
    else { return }
    if let (first, second) = exchangedProperties(written: value, read: back) {
      fatalError(
        """
        \(R.self).entity lists the properties "\(first)" and "\(second)" in another order than the \
        initialiser takes them: what is written to one is read from the other
        """)
    }
    let (written, read) = (comparableValues(of: value), comparableValues(of: back))
    exchange.settle { pair in
      let (a, b) = (pair.first, pair.second)
      return written[a] != written[b] && read[a] != written[b] && read[b] != written[a]
    }
  }

  /// Whether the two properties have different values in the record at this address.
  private func differ(_ pair: ExchangeCheck.Pair, in record: UnsafeRawPointer) -> Bool {
    guard isStored else {
      let value = record.assumingMemoryBound(to: R.self).pointee
      let accesses = self.record.accesses
      return accesses[pair.first].value(value) != accesses[pair.second].value(value)
    }
    let (first, second) = (fields[pair.first], fields[pair.second])
    return RecordWriter.differ(first.type, record + first.offset, record + second.offset)
  }

  /// The names of two properties of one type that were read from each other's place; nil if there
  /// are none.
  package func exchangedProperties(written: R, read: R) -> (String, String)? {
    let before = comparableValues(of: written)
    let after = comparableValues(of: read)
    for index in before.indices where before[index] != after[index] {
      for other in before.indices
      where other != index && record.fields[other].type == record.fields[index].type
        && before[other] == after[index] && !after[index].isNull
      {
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
