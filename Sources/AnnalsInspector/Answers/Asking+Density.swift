import Annals
import AnnalsLog
import AnnalsModel

extension Asking {
  /// How many transactions there are, over time or by number, by author.
  package func density() throws -> DensityDocument {
    let store = try opened()
    let version = store.version
    let by = parameters["by"] ?? "time"
    guard by == "time" || by == "number" else {
      throw RequestFault("by is time or number, not `\(by)`", .usage, parameter: "by")
    }
    let buckets = try parameters.count("buckets", default: 240, within: 1...1_000)
    let drawing = try store.sketch.drawn(of: version, cancellation)
    let (base, head) = (version.view.base, version.token.number)
    let isByTime = by == "time"
    var range = base + 1...max(base + 1, head)
    if isByTime {
      let earliest = drawing.bins.map(\.earliest).min() ?? 0
      let newest = version.position.timestamp.microseconds
      range = earliest...max(drawing.bins.map(\.latest).max() ?? 0, newest, earliest)
    }
    let from = try parameters.number("from") ?? range.lowerBound
    let to = max(from, try parameters.number("to") ?? range.upperBound)
    let colours = AuthorColours(drawing, version)
    var row = BucketRow(from: from, to: to, count: buckets, authors: colours.names.count)
    for bin in try bins(drawing, from...to, isByTime, version) {
      row.add(bin, isByTime: isByTime, colours)
    }
    return DensityDocument(
      by: by, from: from, to: to,
      progress: drawing.progress(through: head), total: head - base, authors: colours.names,
      active: colours.active, buckets: row.buckets, command: command("log").text)
  }

  /// The bins of a stretch; where one stands for several transactions and few are wanted, one for
  /// each.
  private func bins(
    _ drawing: HistorySketch.Drawing, _ range: ClosedRange<Int64>, _ isByTime: Bool,
    _ version: StoreVersion
  ) throws -> ContiguousArray<HistorySketch.Bin> {
    let wanted = drawing.bins.filter { bin in
      isByTime
        ? bin.latest >= range.lowerBound && bin.earliest <= range.upperBound
        : bin.last >= range.lowerBound && bin.first <= range.upperBound
    }
    guard drawing.isCoarse, let first = wanted.map(\.first).min(),
      let last = wanted.map(\.last).max(), last - first < Asking.mostExact
    else { return ContiguousArray(wanted) }
    return try drawing.exact(first...last, of: version, cancellation)
  }

  /// As many transactions are read anew for a picture.
  private static let mostExact: Int64 = 40_000
}

/// The authors that are told apart in a picture.
private struct AuthorColours {
  /// The names; nil, at the end, for all others together.
  private(set) var names: [String?]
  /// The most active authors, those of the picture first.
  let active: [String]
  private let places: [NameNumber: Int]

  /// So many authors have a colour of their own.
  private static let most = 11
  /// So many authors are told.
  private static let mostActive = 500

  init(_ drawing: HistorySketch.Drawing, _ version: StoreVersion) {
    let known = drawing.authors.sorted { ($0.value, $1.key) > ($1.value, $0.key) }
    let told = known.prefix(AuthorColours.mostActive)
    active = told.map { version.view.name($0.key) ?? "" }
    names = Array(active.prefix(AuthorColours.most))
    places = Dictionary(
      uniqueKeysWithValues: told.prefix(AuthorColours.most).enumerated().map { ($1.key, $0) })
    if known.count > names.count || drawing.bins.contains(where: { $0.others > 0 }) {
      names.append(nil)
    }
  }

  func place(of author: NameNumber) -> Int { places[author] ?? names.count - 1 }

  /// The place of those that a bin does not tell apart.
  var placeOfOthers: Int { names.count - 1 }
}

/// The buckets of a picture, from left to right.
private struct BucketRow {
  private(set) var buckets: [DensityDocument.Bucket] = []
  private let from: Int64
  private let to: Int64
  private let width: UInt64

  init(from: Int64, to: Int64, count: Int, authors: Int) {
    self.from = from
    self.to = to
    let length = BucketRow.distance(from, to) / UInt64(count)
    width = length == .max ? length : length + 1
    var start = from
    while buckets.count < count {
      let isOver = width > BucketRow.distance(start, .max)
      let end = isOver ? .max : start &+ Int64(truncatingIfNeeded: width)
      buckets.append(
        DensityDocument.Bucket(
          from: start, to: end, count: 0,
          authors: [Int](repeating: 0, count: authors)))
      if isOver || end > to { break }
      start = end
    }
  }

  /// How far a number is from a smaller one: more than an `Int64` has room for, perhaps.
  private static func distance(_ low: Int64, _ high: Int64) -> UInt64 {
    UInt64(bitPattern: high &- low)
  }

  mutating func add(_ bin: HistorySketch.Bin, isByTime: Bool, _ colours: AuthorColours) {
    let place =
      isByTime
      ? bin.earliest + (bin.latest - bin.earliest) / 2 : bin.first + (bin.last - bin.first) / 2
    guard place >= from, place <= to else { return }
    let index = Int(clamping: BucketRow.distance(from, place) / width)
    guard buckets.indices.contains(index) else { return }
    var bucket = buckets[index]
    bucket.first = min(bucket.first ?? bin.first, bin.first)
    bucket.last = max(bucket.last ?? bin.last, bin.last)
    for (author, count) in bin.counts {
      bucket.count += Int(count)
      bucket.authors[colours.place(of: author)] += Int(count)
    }
    if bin.others > 0 {
      bucket.count += Int(bin.others)
      bucket.authors[colours.placeOfOthers] += Int(bin.others)
    }
    buckets[index] = bucket
  }
}
