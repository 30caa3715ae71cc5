/// A named reader of history, as a store keeps it.
package struct ConsumerState: Sendable {
  package var name: String
  /// What kind of reader it is, in its own words; may be empty.
  package var kind: String
  /// Whether a prune waits for it, as long as its lease runs.
  package var isBlocking: Bool
  /// For how many microseconds from `lastSeen` the lease runs; nil for ever.
  package var lease: Int64?
  /// When it was registered. Tells it from an earlier one of the same name.
  package var registered: Timestamp
  package var lastSeen: Timestamp
  /// The last transaction that it has seen, and the id of the opening that wrote it; 0 for none.
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

  /// When the lease runs out; nil if never.
  package var expiry: Timestamp? {
    lease.map { lease in
      let (sum, overflow) = lastSeen.microseconds.addingReportingOverflow(lease)
      return Timestamp(microseconds: overflow ? .max : sum)
    }
  }

  /// Whether the lease has not run out yet.
  package func isLeaseRunning(at moment: Timestamp) -> Bool {
    expiry.map { moment <= $0 } ?? true
  }
}

extension ConsumerState: Equatable {
  /// Texts are compared by their bytes.
  package static func == (a: ConsumerState, b: ConsumerState) -> Bool {
    a.name.hasSameBytes(as: b.name) && a.kind.hasSameBytes(as: b.kind)
      && a.isBlocking == b.isBlocking && a.lease == b.lease && a.registered == b.registered
      && a.lastSeen == b.lastSeen && a.number == b.number && a.openingID == b.openingID
  }
}

/// What becomes of one consumer.
package enum ConsumerChange: Equatable, Sendable {
  /// It is registered, or what is kept of it is now this.
  case set(ConsumerState)
  /// It is gone.
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
