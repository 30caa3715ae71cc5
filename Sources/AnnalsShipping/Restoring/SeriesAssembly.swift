import AnnalsEngine
import AnnalsFormat
import AnnalsFrames
import AnnalsInspection
import AnnalsModel
import AnnalsStorage

/// A store's file put together again: a base and the segments that follow it, as far as they are
/// whole.
struct SeriesAssembly {
  let series: ShippedSeries
  let base: ShippedBase
  /// The last transaction in the file.
  private(set) var head: Int64
  /// Where its log ends.
  private(set) var end: UInt64
  /// How many segments are in it.
  private(set) var segments = 0
  /// Why there is no more of it; nil if all that was shipped is in it.
  private(set) var problem: ShippingFault?
  private var lastChecksum: UInt32
  /// Where each segment begins in the file.
  private var places: [(start: UInt64, name: ShippedName)] = []

  /// Writes the file. Throws `ShippingFault` if the base is missing or damaged; then what was
  /// written is of no use.
  init(_ series: ShippedSeries, of folder: ShippingFolder, into file: any StorageFile) throws {
    self.series = series
    guard let name = series.base ?? series.segments.first?.with(order: 0) else {
      preconditionFailure("a series has a file")
    }
    let source = try folder.open(name)
    defer { source.close() }
    base = try ShippedBase(source, name)
    (head, end, lastChecksum) = (base.head, base.end, base.slot.markChecksum)
    guard try file.copy(0..<base.end, of: source, to: 0).count == base.end else {
      throw ShippingFault.damaged(name, "became shorter while it was read")
    }
    do {
      try append(from: folder, to: file)
    } catch let fault as ShippingFault {
      problem = fault
      // Of the segment that is not whole something may be there.
      try file.truncate(to: end)
    }
    try seal(file)
  }

  /// Appends the segments in order. Throws `ShippingFault` at the first that does not continue what
  /// is there.
  private mutating func append(from folder: ShippingFolder, to file: any StorageFile) throws {
    for name in series.segments {
      if let missing = series.missing, missing.order < name.order {
        throw ShippingFault.missing(missing)
      }
      let source = try folder.open(name)
      defer { source.close() }
      let header = try SegmentHeader(source.bytes(SegmentHeader.length, at: 0), of: name)
      guard header.start == end, header.previousChecksum == lastChecksum, header.headBefore == head
      else {
        throw ShippingFault.damaged(
          name, "does not continue what is before it, which ends with transaction \(head)")
      }
      let size = try source.size()
      let length = UInt64(SegmentHeader.length)
      guard size == length + header.byteCount else {
        throw ShippingFault.damaged(
          name, "has \(size) bytes, and had \(length + header.byteCount) when it was shipped")
      }
      let copied = try file.copy(length..<size, of: source, to: end)
      guard copied.count == header.byteCount, copied.checksum == header.checksum else {
        throw ShippingFault.damaged(name, "is damaged: its checksum does not match")
      }
      places.append((end, name))
      (head, end, lastChecksum) = (header.head, header.end, header.lastChecksum)
      segments += 1
    }
  }

  /// Checks every frame, writes root slots for this end, and verifies the file.
  private func seal(_ file: any StorageFile) throws {
    do {
      let stretch = try LogStretch(
        of: file, base.header, from: ChainPoint(beginningOf: base.header), upTo: end)
      guard stretch.head ?? base.header.base == head else {
        throw ShippingFault.damaged(
          base.name, "and its segments end with transaction \(stretch.head ?? 0), not \(head)")
      }
      try SeriesAssembly.end(file, base.header, after: stretch)
    } catch let damage as StretchDamage {
      throw fault(at: damage.offset, damage.reason)
    }
    if let finding = try SeriesAssembly.finding(in: file) {
      throw fault(at: finding.offset, finding.what)
    }
  }

  /// Writes header and root slots of a file whose log ends here, and cuts it there.
  static func end(
    _ file: any StorageFile, _ header: FileHeader, after stretch: LogStretch
  ) throws {
    var header = header
    try header.encode(with: RootSlot(endingAfter: stretch, of: header)).withBytes {
      bytes throws(StorageError) in try file.write(bytes, at: 0)
    }
    try file.truncate(to: stretch.end.offset)
  }

  /// The first thing that is wrong with a file; nil if nothing is.
  static func finding(in file: any StorageFile) throws -> Finding? {
    var found: Finding?
    var verification = try PhysicalVerification(file)
    _ = try verification.run { if found == nil, $0.severity != .note { found = $0 } }
    return found
  }

  /// The fault of the file from which the bytes at an offset came.
  private func fault(at offset: UInt64?, _ what: String) -> ShippingFault {
    guard let offset else { return .damaged(base.name, "is damaged: \(what)") }
    guard let place = places.last(where: { $0.start <= offset }) else {
      return .damaged(base.name, "is damaged at offset \(offset): \(what)")
    }
    let there = offset - place.start + UInt64(SegmentHeader.length)
    return .damaged(place.name, "is damaged at offset \(there): \(what)")
  }
}
