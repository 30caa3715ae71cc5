import AnnalsEngine
import AnnalsModel

/// A base and the segments that continue it, by their names.
package struct ShippedSeries: Hashable, Sendable {
  /// The number of the base.
  package let number: UInt64
  package let generation: UInt64
  package fileprivate(set) var base: ShippedName?
  /// The segments, in order; some may be missing.
  package fileprivate(set) var segments: [ShippedName] = []

  /// The first segment that is missing, with later ones there; nil if none is.
  package var missing: ShippedName? {
    segments.enumerated().first { $1.order != UInt64($0) + 1 }
      .map { $1.with(order: UInt64($0) + 1) }
  }
}

/// What a folder has.
package struct FolderContents: Sendable {
  /// The bases with their segments, the oldest first.
  package private(set) var series: [ShippedSeries] = []
  /// The stores whose files are there: one, unless files of another were put there.
  package private(set) var stores: [RawUUID] = []
  /// How many files are there that were not shipped; not the lock and unfinished files.
  package private(set) var otherCount = 0

  /// The contents of a folder with these names.
  package init(_ names: [String]) {
    var found: [UInt64: [UInt64: ShippedSeries]] = [:]
    for text in names {
      guard let name = ShippedName(text) else {
        if text != ShippingFolder.lockName, !text.hasSuffix(".new") { otherCount += 1 }
        continue
      }
      if !stores.contains(name.store) { stores.append(name.store) }
      var series =
        found[name.base]?[name.generation]
        ?? ShippedSeries(number: name.base, generation: name.generation)
      if name.isBase { series.base = name } else { series.segments.append(name) }
      found[name.base, default: [:]][name.generation] = series
    }
    series = found.values.flatMap(\.values).sorted {
      ($0.number, $0.generation) < ($1.number, $1.generation)
    }
    for index in series.indices { series[index].segments.sort { $0.order < $1.order } }
    stores.sort()
  }

  /// The store that is shipped here; nil if there is none yet. Throws `.otherStore` if there are
  /// files of several.
  package func store(in folder: String) throws -> RawUUID? {
    guard stores.count > 1 else { return stores.first }
    throw AnnalsError(
      .otherStore,
      "\(folder) has files of \(stores.count) stores: "
        + stores.map(\.description).joined(separator: ", ")
        + ". Move those of the others to folders of their own")
  }
}
