import AnnalsEngine
import AnnalsModel
import AnnalsState
import AnnalsStorage
import Synchronization

// Detects the one mistake in a record type that the compiler cannot see: two properties of one type
// listed in another order than the initialiser's parameters.

/// The pairs of properties of one type that were not yet seen to be read from their own place.
///
/// The first inserted record in which the two of a pair differ resolves that pair. Once all are
/// resolved, inserting costs nothing more.
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

  /// Whether any pair is unresolved.
  package var isOpen: Bool { hasOpen.load(ordering: .relaxed) }

  /// The unresolved pairs.
  package var pairs: ContiguousArray<Pair> { open.withLock { $0 } }

  /// Removes the pairs for which `isRead` returns true.
  func resolve(where isRead: (Pair) -> Bool) {
    open.withLock { pairs in
      pairs.removeAll(where: isRead)
      hasOpen.store(!pairs.isEmpty, ordering: .relaxed)
    }
  }
}

extension RecordBinding {
  /// Reads back an inserted object if that can reveal an exchange of properties, and traps if there
  /// is one. In release builds too: otherwise the program would go on to corrupt its data.
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
      stop(
        """
        \(R.self).entity lists the properties "\(first)" and "\(second)" in another order than the \
        initialiser takes them: what is written to one is read from the other
        """)
    }
    let (written, read) = (comparableValues(of: value), comparableValues(of: back))
    exchange.resolve { pair in
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

  /// The values of a record; unordered to-many relationships are compared without order.
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
