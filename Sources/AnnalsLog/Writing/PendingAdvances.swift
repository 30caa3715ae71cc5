import AnnalsFormat
import AnnalsModel

/// A consumer has read further, or was opened again.
package struct ConsumerAdvance: Sendable {
  package var name: String
  /// When the consumer was registered: one that was removed and registered again is a different
  /// one.
  package var registered: Timestamp
  package var lastSeen: Timestamp
  /// What it has read; nil if it was only opened.
  package var number: Int64?
  package var openingID: UInt64
  /// Whether it may be less than what the file says.
  package var mayGoBack: Bool
  /// When the file says that it was seen, if that is beyond the reader's present: a clock was ahead
  /// then, and this advance replaces it.
  private var replacedLastSeen: Timestamp?

  package init(
    _ consumer: ConsumerState, lastSeen: Timestamp, number: Int64? = nil, openingID: UInt64 = 0,
    mayGoBack: Bool = false
  ) {
    name = consumer.name
    registered = consumer.registered
    self.lastSeen = lastSeen
    replacedLastSeen = consumer.lastSeen > lastSeen ? consumer.lastSeen : nil
    self.number = number
    self.openingID = openingID
    self.mayGoBack = mayGoBack
  }

  /// Merges an earlier advance of the same consumer into this one.
  fileprivate mutating func join(_ earlier: ConsumerAdvance) {
    replacedLastSeen = earlier.replacedLastSeen ?? replacedLastSeen
    guard let before = earlier.number else { return }
    if let number, mayGoBack || number >= before {
      mayGoBack = mayGoBack || earlier.mayGoBack
    } else {
      (number, openingID, mayGoBack) = (before, earlier.openingID, earlier.mayGoBack)
    }
  }

  /// The consumer after this advance; unchanged if it is a different one by now. A position beyond
  /// `head` was lost meanwhile, and is read again.
  fileprivate func applied(to consumer: ConsumerState, head: Int64) -> ConsumerState {
    guard consumer.registered == registered else { return consumer }
    var result = consumer
    result.lastSeen =
      consumer.lastSeen == replacedLastSeen ? lastSeen : max(lastSeen, consumer.lastSeen)
    if let number, number <= head, mayGoBack || number >= consumer.number {
      result.number = number
      result.openingID = openingID
    }
    return result
  }
}

/// The advances that no frame contains yet, one per consumer.
struct PendingAdvances: Sendable {
  private var list: [ConsumerAdvance] = []
  /// When frames of consumers were last written, by the advancing consumers' clock.
  private(set) var written: Timestamp?
  /// The newest moment among the pending advances.
  private(set) var newest: Timestamp?

  var isEmpty: Bool { list.isEmpty }

  mutating func note(_ advance: ConsumerAdvance) {
    newest = advance.lastSeen
    let place = list.firstIndex { $0.name.hasSameBytes(as: advance.name) }
    guard let place else { return list.append(advance) }
    let earlier = list[place]
    list[place] = advance
    if earlier.registered == advance.registered { list[place].join(earlier) }
  }

  /// Drops the advances that change nothing of these consumers, which were just written.
  mutating func dropWritten(_ table: ConsumerTable, head: Int64) {
    list.removeAll { PendingAdvances.change(by: $0, of: table, head: head) == nil }
    written = newest
  }

  /// The consumers that the advances change, after them.
  func changes(of table: ConsumerTable, head: Int64) -> [ConsumerState] {
    list.compactMap { PendingAdvances.change(by: $0, of: table, head: head) }
  }

  /// A consumer with its pending advance applied.
  func changed(_ consumer: ConsumerState, head: Int64) -> ConsumerState {
    let advance = list.first { $0.name.hasSameBytes(as: consumer.name) }
    return advance?.applied(to: consumer, head: head) ?? consumer
  }

  private static func change(
    by advance: ConsumerAdvance, of table: ConsumerTable, head: Int64
  ) -> ConsumerState? {
    guard let known = table[advance.name] else { return nil }
    let changed = advance.applied(to: known, head: head)
    return changed == known ? nil : changed
  }
}
