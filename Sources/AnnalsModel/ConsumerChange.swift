/// A named reader of history, as stored.
package struct ConsumerState: Sendable {
  package var name: String
  /// The kind of reader, in its own words; may be empty.
  package var kind: String
  /// Whether prunes wait for it while its lease runs.
  package var isBlocking: Bool
  /// The length of the lease in microseconds from `lastSeen`; nil for ever.
  package var lease: Int64?
  /// When it was registered. Distinguishes it from an earlier one of the same name.
  package var registered: Timestamp
  package var lastSeen: Timestamp
  /// The last transaction that it has read, and the id of the opening that wrote it; 0 for none.
  package var number: Int64
  package var openingID: UInt64

  package init(
    name: String, kind: String, isBlocking: Bool, lease: Int64?, registered: Timestamp,
    lastSeen: Timestamp, number: Int64, openingID: UInt64
  ) {
    self.name = name
    self.kind = kind
    self.isBlocking = isBlocking
    self.lease = lease
    self.registered = registered
    self.lastSeen = lastSeen
    self.number = number
    self.openingID = openingID
  }

  /// When a lease that counts from `start` expires; nil if never.
  package func expiry(since start: Timestamp) -> Timestamp? {
    lease.map { lease in
      let (sum, overflow) = start.microseconds.addingReportingOverflow(lease)
      return Timestamp(microseconds: overflow ? .max : sum)
    }
  }

  /// Whether a lease that counts from `start` runs at a moment.
  package func isLeaseRunning(at moment: Timestamp, since start: Timestamp) -> Bool {
    expiry(since: start).map { moment <= $0 } ?? true
  }
}

extension ConsumerState: Hashable {
  /// Texts are compared by their bytes.
  package static func == (a: ConsumerState, b: ConsumerState) -> Bool {
    a.name.hasSameBytes(as: b.name) && a.kind.hasSameBytes(as: b.kind)
      && a.isBlocking == b.isBlocking && a.lease == b.lease && a.registered == b.registered
      && a.lastSeen == b.lastSeen && a.number == b.number && a.openingID == b.openingID
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(registered)
    hasher.combine(number)
  }
}

/// A change of one consumer.
package enum ConsumerChange: Equatable, Sendable {
  /// Registers it, or replaces its stored state.
  case set(ConsumerState)
  /// Removes it.
  case remove(name: String)

  /// The consumer's name.
  package var name: String {
    switch self {
    case .set(let consumer): consumer.name
    case .remove(let name): name
    }
  }

  package static func == (a: ConsumerChange, b: ConsumerChange) -> Bool {
    switch (a, b) {
    case (.set(let a), .set(let b)): a == b
    case (.remove(let a), .remove(let b)): a.hasSameBytes(as: b)
    default: false
    }
  }
}
