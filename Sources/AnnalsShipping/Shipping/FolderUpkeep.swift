import Annals
import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsStorage

/// Which older bases of a folder go.
///
/// Only whole bases go, with all of their segments, and never the newest: so what is left can be
/// restored to each of its moments.
struct FolderUpkeep {
  let folder: ShippingFolder
  let newest: ShippedEnd
  let options: ShippingOptions
  let environment: StoreEnvironment
  private let older: [ShippedSeries]

  init(
    folder: ShippingFolder, newest: ShippedEnd, options: ShippingOptions,
    _ environment: StoreEnvironment
  ) throws {
    self.folder = folder
    self.newest = newest
    self.options = options
    self.environment = environment
    older = try folder.contents().series.filter {
      ($0.number, $0.generation) != (newest.base, newest.name.generation)
    }
  }

  /// The numbers of the older bases with values that were erased from the file since. Reads the
  /// history of the newest base if anything was ever erased, and then that of older ones.
  func basesWithErased() throws -> [UInt64] {
    if older.isEmpty { return [] }
    guard let last = try erasures().last else { return [] }
    return try older.filter { series in
      guard let base = series.base else { return true }
      do {
        if try folder.base(base).head < last { return true }
        return try withStore(base) { try !$0.version.unfinishedErasures().isEmpty }
      } catch is ShippingFault {
        return true
      } catch is AnnalsError {
        return true
      }
    }.map(\.number)
  }

  /// The transactions of the newest base that erased something.
  private func erasures() throws -> [Int64] {
    try withStore(newest.name.with(order: 0)) { store in
      try store.version.erasures(after: store.version.view.base).map(\.number)
    }
  }

  private func withStore<R>(_ name: ShippedName, _ body: (Store) throws -> R) throws -> R {
    let store = try Store(
      StoreLocation(fileSystem: folder.fileSystem, path: folder.path(of: name)), creates: false,
      options: .looking, environment: environment)
    defer { try? store.close() }
    return try body(store)
  }

  /// Removes the bases that nothing keeps, and returns their numbers.
  func removeOld(holdErased: [UInt64]) throws -> [UInt64] {
    var removed: [UInt64] = []
    // What an older base has, a newer one may have had from it.
    let forgotten = options.forgetsErased ? holdErased.max() ?? 0 : 0
    for (index, series) in older.enumerated() {
      guard try series.number <= forgotten || isSuperfluous(series, at: index) else { continue }
      try folder.remove(series)
      removed.append(series.number)
    }
    return removed
  }

  /// Whether neither option keeps a base.
  private func isSuperfluous(_ series: ShippedSeries, at index: Int) throws -> Bool {
    guard options.keptBases != nil || options.keptFor != nil else { return false }
    if let count = options.keptBases, older.count - index < max(count, 1) { return false }
    if let length = options.keptFor, try !isBefore(length, at: index) { return false }
    // One that ends after the newest is of a branch that the file no longer has.
    return try (folder.head(of: series) ?? 0) <= newest.head
  }

  /// Whether the next base began so long ago that everything since can be restored from it.
  private func isBefore(_ length: Duration, at index: Int) throws -> Bool {
    var next = newest.name.with(order: 0)
    if older.indices.contains(index + 1) {
      guard let name = older[index + 1].base else { return false }
      next = name
    }
    let (seconds, rest) = length.components
    let (whole, isEndless) = seconds.multipliedReportingOverflow(by: 1_000_000)
    let (span, isLonger) = whole.addingReportingOverflow(rest / 1_000_000_000_000)
    let (limit, isBeforeAll) = environment.clock().microseconds.subtractingReportingOverflow(span)
    // A length that no date has room for is for ever.
    if isEndless || isLonger || isBeforeAll { return false }
    return try withStore(next) { $0.version.view.head.timestamp }.microseconds <= limit
  }
}

extension ShippingFolder {
  /// What a base says of itself.
  func base(_ name: ShippedName) throws -> ShippedBase {
    let file = try open(name)
    defer { file.close() }
    return try ShippedBase(file, name)
  }

  /// The last transaction of a base and its segments; nil if that cannot be read.
  func head(of series: ShippedSeries) throws -> Int64? {
    do {
      if let last = series.segments.last { return try header(of: last).head }
      return try series.base.map { try base($0).head }
    } catch is ShippingFault {
      return nil
    }
  }
}
