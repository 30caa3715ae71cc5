import Annals
import AnnalsFormat
import AnnalsLog
import AnnalsStorage

/// How many transactions there are when, and by whom: the picture of a whole history in a bounded
/// space.
///
/// It is drawn a piece at a time, as long as somebody asks for it. Each bin stands for a run of
/// transactions, of one as long as there are few. Memory: 8 MB at most, and each author's count.
final class HistorySketch: Sendable {
  /// A run of consecutive transactions.
  struct Bin {
    var first: Int64
    var last: Int64
    var earliest: Int64
    var latest: Int64
    /// The number of transactions by author.
    var counts: ContiguousArray<(author: NameNumber, count: UInt32)> = []
    /// Those of further authors, where a bin has many.
    var others: UInt32 = 0

    fileprivate init(_ number: Int64, _ time: Int64) {
      (first, last, earliest, latest) = (number, number, time, time)
    }
  }

  /// What is known so far.
  struct Drawing {
    fileprivate(set) var generation: UInt64 = 0
    fileprivate(set) var base: Int64 = 0
    /// All transactions up to here are in the bins.
    fileprivate(set) var covered: Int64 = 0
    fileprivate(set) var bins: ContiguousArray<Bin> = []
    /// How many transactions each author has.
    fileprivate(set) var authors: [NameNumber: Int] = [:]
    /// How many transactions a bin stands for.
    fileprivate var span: Int64 = 1
    /// How often somebody has gone on with it.
    fileprivate var slices = 0
  }

  private let drawing = Locked(Drawing())
  /// One request at a time goes on with it.
  private let pen = Locked(())

  /// As many authors are told apart in a bin.
  fileprivate static let mostAuthors = 16
  private static let mostBins = 32_768

  /// As many requests belong to the first view of a page: they come soon, with what there is.
  private static let firstSlices = 3

  /// Goes on with the drawing for a while, and returns it.
  func drawn(of version: StoreVersion, _ cancellation: Cancellation) throws -> Drawing {
    try pen.withLock { _ in
      var known = drawing.withLock { $0 }
      let view = version.view
      let generation = view.file.header.generation
      if known.generation != generation || known.base != view.base {
        known = Drawing()
        known.generation = generation
        known.base = view.base
        known.covered = view.base
      }
      // A copy of what is kept would be copied again at each change.
      drawing.withLock { $0 = Drawing() }
      defer { drawing.withLock { $0 = known } }
      let isFirst = known.slices < HistorySketch.firstSlices
      known.slices += 1
      try known.extend(
        through: version, for: WorkTime(.milliseconds(isFirst ? 10 : 150)), cancellation)
      return known
    }
  }
}

extension HistorySketch.Drawing {
  /// Whether a bin stands for several transactions.
  var isCoarse: Bool { span > 1 }

  /// How much of the history up to a transaction is drawn.
  func progress(through head: Int64) -> Double {
    head <= covered ? 1 : Double(covered - base) / Double(max(1, head - base))
  }

  /// A bin for each of some transactions.
  func exact(
    _ numbers: ClosedRange<Int64>, of version: StoreVersion, _ cancellation: Cancellation
  ) throws -> ContiguousArray<HistorySketch.Bin> {
    var part = HistorySketch.Drawing()
    part.covered = max(numbers.lowerBound - 1, version.view.base)
    try part.extend(
      through: version, upTo: numbers.upperBound, for: WorkTime(.seconds(5)), cancellation)
    return part.bins
  }

  fileprivate mutating func extend(
    through version: StoreVersion, upTo last: Int64? = nil, for time: WorkTime,
    _ cancellation: Cancellation
  ) throws {
    let head = min(last ?? .max, version.token.number)
    guard covered < head else { return }
    var cursor = try PartCursor(
      History(version: version, after: covered, through: head, condition: .always),
      withChanges: false)
    var passed = 0
    while let part = try cursor.next() {
      let record = part.record
      if record.part == 0 { add(record) }
      if !record.isContinued { covered = max(covered, record.number) }
      passed += 1
      if passed.isMultiple(of: 256), !record.isContinued {
        try cancellation.check()
        if time.isOver { return }
      }
    }
    covered = head
  }

  /// Adds the next transaction.
  private mutating func add(_ record: TransactionRecord) {
    let time = record.timestamp.microseconds
    authors[record.author, default: 0] += 1
    if let last = bins.indices.last, record.number - bins[last].first < span {
      bins[last].add(record.number, time, record.author)
      return
    }
    if bins.count >= HistorySketch.binLimit { halve() }
    var bin = HistorySketch.Bin(record.number, time)
    bin.add(record.number, time, record.author)
    bins.append(bin)
  }

  /// Makes one bin of two.
  private mutating func halve() {
    span *= 2
    var halved: ContiguousArray<HistorySketch.Bin> = []
    halved.reserveCapacity(bins.count / 2 + 1)
    for bin in bins {
      if let last = halved.indices.last, bin.first - halved[last].first < span {
        halved[last].add(bin)
      } else {
        halved.append(bin)
      }
    }
    bins = halved
  }
}

extension HistorySketch {
  fileprivate static var binLimit: Int { mostBins }
}

extension HistorySketch.Bin {
  fileprivate mutating func add(_ number: Int64, _ time: Int64, _ author: NameNumber) {
    last = max(last, number)
    earliest = min(earliest, time)
    latest = max(latest, time)
    add(1, of: author)
  }

  fileprivate mutating func add(_ other: HistorySketch.Bin) {
    last = max(last, other.last)
    earliest = min(earliest, other.earliest)
    latest = max(latest, other.latest)
    for (author, count) in other.counts { add(count, of: author) }
    others += other.others
  }

  private mutating func add(_ count: UInt32, of author: NameNumber) {
    if let place = counts.firstIndex(where: { $0.author == author }) {
      counts[place].count += count
    } else if counts.count < HistorySketch.mostAuthors {
      counts.append((author, count))
    } else {
      others += count
    }
  }
}
