import AnnalsModel

/// The ordered rows of a timeline, sixteen bytes each, made from the objects' columns.
///
/// Stored rising; descending order reads them backward. Positions count in the order's direction.
package struct TimelineEntries: Sendable {
  /// One row.
  package struct Entry: Hashable, Sendable {
    /// The date; the last possible moment for an ongoing object.
    package var date: Int64
    /// From the highest bit: rank among rows of the same date (2 bits), the object's place, and
    /// which of an instant's rows it is (1 bit).
    var tie: UInt64

    init(_ date: Int64, _ rank: Rank, _ index: Int, isSecond: Bool = false) {
      self.date = date
      tie = rank.rawValue << 62 | UInt64(index) << 1 | (isSecond ? 1 : 0)
    }

    /// The place of the object among the columns.
    package var index: Int { Int((tie << 2) >> 3) }

    @inline(__always)
    static func < (a: Entry, b: Entry) -> Bool {
      a.date != b.date ? a.date < b.date : a.tie < b.tie
    }
  }

  /// The order of rows of the same date.
  enum Rank: UInt64 {
    case end = 0
    /// Singles, and both rows of an instant.
    case single = 1
    case start = 2
    case ongoing = 3
  }

  package let columns: TimelineColumns
  package let order: TimelineOrder
  /// The present time when the rows were made.
  package let now: Timestamp
  private var entries: ContiguousArray<Entry>

  /// The rows of the objects; with `group`, of those in this group. O(n log n).
  package init(
    _ columns: TimelineColumns, _ order: TimelineOrder, now: Timestamp, group: Int? = nil
  ) {
    self.columns = columns
    self.order = order
    self.now = now
    // Local: what a method appends to a property of its own is copied each time.
    var made: ContiguousArray<Entry> = []
    made.reserveCapacity(columns.count * (order.hidesEnds ? 1 : 2))
    entries = []
    for index in 0..<columns.count where group == nil || columns.group(index) == group {
      forEachEntry(of: index) { made.append($0) }
    }
    made.sort(by: <)
    entries = made
  }

  /// Calls `body` with the rows of an object.
  private func forEachEntry(of index: Int, _ body: (Entry) -> Void) {
    let start = columns.starts[index]
    switch columns.kind(index) {
    case .single: body(Entry(start, .single, index))
    case .range:
      let end = columns.ends[index]
      let isInstant = end == start
      body(Entry(start, isInstant ? .single : .start, index))
      guard !order.hidesEnds else { return }
      body(Entry(end, isInstant ? .single : .end, index, isSecond: isInstant))
    case .ongoing:
      body(Entry(start, .start, index))
      guard !order.hidesOngoing else { return }
      let isLast = order.ongoing == .last
      body(Entry(isLast ? .max : max(start, now.microseconds), .ongoing, index))
    }
  }

  /// How many rows there are.
  package var count: Int { entries.count }

  /// The row at a position. O(1).
  package subscript(position: Int) -> Entry {
    entries[order.isDescending ? entries.count - 1 - position : position]
  }

  /// What the row tells of its object.
  package func role(_ entry: Entry) -> TimelineRole {
    switch Rank(rawValue: entry.tie >> 62) ?? .ongoing {
    case .end: .end
    case .start: .start
    case .ongoing: .ongoing
    case .single:
      columns.kind(entry.index) == .single ? .single : entry.tie & 1 == 0 ? .start : .end
    }
  }

  /// The date of a row; nil for an ongoing row.
  package func date(_ entry: Entry) -> Timestamp? {
    entry.tie >> 62 == Rank.ongoing.rawValue ? nil : Timestamp(microseconds: entry.date)
  }

  /// The positions of an object's rows, rising. O(log n).
  package func positions(of object: ObjectReference) -> [Int] {
    var result: [Int] = []
    for index in columns.places(of: object) {
      forEachEntry(of: index) { entry in
        let found = rank { $0 < entry }
        guard found < entries.count, entries[found] == entry else { return }
        result.append(order.isDescending ? entries.count - 1 - found : found)
      }
    }
    return result.sorted()
  }

  /// The positions of the rows that stand at these dates. O(log n).
  package func positions(from start: Int64, to end: Int64) -> Range<Int> {
    let first = rank { $0.date < start }
    let last = max(first, rank { $0.date < end })
    return order.isDescending ? entries.count - last..<entries.count - first : first..<last
  }

  /// How many rows stand at the front of which `isBefore` is true; rising, whatever the order.
  func rank(_ isBefore: (Entry) -> Bool) -> Int { entries.rank(isBefore) }

  /// A row by its position in rising order.
  func rising(_ position: Int) -> Entry { entries[position] }
}
