import AnnalsState

// Both compare small pairs, and move each row once: rows are large.
extension [QueryList.Moved] {
  /// Sorts rows by position.
  mutating func sortByPosition() {
    guard count > 1 else { return }
    var sorted = enumerated().map { (position: $1.position, index: $0) }
    sorted.sort { $0.position < $1.position }
    self = sorted.map { self[$0.index] }
  }

  /// Sorts rows by their entries.
  mutating func sortByEntry(in order: RowOrder) throws(ConditionFault) {
    guard count > 1 else { return }
    var sorted = enumerated().map { (entry: $1.entry, index: $0) }
    do {
      try sorted.sort { try order.precedes($0.entry, $1.entry) }
    } catch let fault as ConditionFault {
      throw fault
    } catch {
      throw .largeValue(error)
    }
    self = sorted.map { self[$0.index] }
  }
}
