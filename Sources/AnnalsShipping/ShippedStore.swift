import Annals
import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import Foundation

/// What a shipping folder has, as its names and headers say it. Nothing else is checked: a restore
/// does that.
public struct ShippedStore: Sendable {
  /// A base and its segments.
  public struct Base: Sendable {
    /// Its number, from 1.
    public internal(set) var number: UInt64
    /// The generation of the store's file.
    public internal(set) var generation: UInt64
    /// The first moment that can be restored: after this transaction.
    public internal(set) var first: Int64 = 0
    /// The last one.
    public internal(set) var last: Int64 = 0
    /// When the last transaction was made; nil if that is not known.
    package var timestamp: Timestamp?
    /// How many segments follow it.
    public internal(set) var segments = 0
    /// How many bytes it and its segments have.
    public internal(set) var bytes: UInt64 = 0
    /// What is missing or damaged; nil if nothing is that names and headers show.
    public internal(set) var problem: String?
  }

  /// The store's UUID.
  public internal(set) var id: UUID
  /// The bases, the oldest first.
  public internal(set) var bases: [Base]
  /// How many files of the folder were not shipped.
  public internal(set) var otherFiles: Int

  /// Looks into a folder. Reads a block of each base and the headers of its segments.
  ///
  /// - Throws: `.notFound` if there is no folder, or nothing in it; `.otherStore` if it has files
  ///   of several stores; `.permission`, `.io`.
  public init(in folder: String) throws(AnnalsError) {
    try self.init(in: ShippingFolder(folder))
  }

  /// As the public form, in any file system.
  package init(in folder: ShippingFolder) throws(AnnalsError) {
    (id, bases, otherFiles) = try AnnalsError.shipping {
      let contents = try folder.contents()
      guard let store = try contents.store(in: folder.path) else {
        throw folder.nothingShipped
      }
      return (
        UUID(store), try contents.series.map { try Base($0, in: folder) }, contents.otherCount
      )
    }
  }
}

extension ShippedStore.Base {
  fileprivate init(_ series: ShippedSeries, in folder: ShippingFolder) throws {
    number = series.number
    generation = series.generation
    do {
      guard let name = series.base else {
        throw ShippingFault.missing(series.segments[0].with(order: 0))
      }
      let base = try folder.base(name)
      (first, last, bytes) = (base.header.base, base.head, base.end)
      timestamp = try? Store(
        StoreLocation(fileSystem: folder.fileSystem, path: folder.path(of: name)), creates: false,
        options: .looking
      ).version.view.head.timestamp
      try add(series, after: base, in: folder)
    } catch let fault as ShippingFault {
      problem = fault.text
    }
  }

  private mutating func add(
    _ series: ShippedSeries, after base: ShippedBase, in folder: ShippingFolder
  ) throws {
    var end = base.end
    for name in series.segments {
      if let missing = series.missing, missing.order < name.order {
        throw ShippingFault.missing(missing)
      }
      let header = try folder.header(of: name)
      guard header.start == end else {
        throw ShippingFault.damaged(name, "does not continue what is before it")
      }
      end = header.end
      last = header.head
      segments += 1
      bytes += header.byteCount + UInt64(SegmentHeader.length)
      if let date = header.timestamp { timestamp = date }
    }
  }
}
