import AnnalsEngine
import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// Where the newest base of a folder and its segments end.
struct ShippedEnd {
  /// The name of the last file.
  private(set) var name: ShippedName
  /// The place in the store's file up to which they reach.
  private(set) var point: ChainPoint
  /// The last transaction in them.
  private(set) var head: Int64
  /// How many bytes the base has.
  let baseBytes: UInt64

  /// The end of a base without segments.
  init(base name: ShippedName, end: ChainPoint, head: Int64) {
    self.name = name
    self.head = head
    point = end
    baseBytes = end.offset
  }

  /// The number of the base.
  var base: UInt64 { name.base }

  /// Goes on to the end of a segment.
  mutating func add(_ segment: SegmentHeader) {
    name = segment.name
    point = segment.endPoint
    head = segment.head
  }

  /// Whether another segment of so many bytes would make restoring long.
  func isFar(adding bytes: UInt64, _ options: ShippingOptions) -> Bool {
    if name.order >= UInt64(max(options.segmentsPerBase, 1)) { return true }
    let since = point.offset - baseBytes + bytes
    return since > options.leastBytesPerBase
      && Double(since) > Double(baseBytes) * options.bytesPerBase
  }
}

extension ShippingFolder {
  /// Where the newest base and its segments end; nil if there is no base. Reads the names, the
  /// first blocks of the base and the header of the last segment. Throws `ShippingFault` for a file
  /// of these that is missing or damaged; `.otherStore` if the folder is of another store.
  func findEnd(of store: RawUUID) throws -> ShippedEnd? {
    let contents = try contents()
    guard let found = try contents.store(in: path) else { return nil }
    guard found == store else { throw AnnalsError.folderOfAnother(path, found, store) }
    guard let series = contents.series.last else { return nil }
    guard let name = series.base else {
      throw ShippingFault.missing(series.segments[0].with(order: 0))
    }
    let file = try open(name)
    defer { file.close() }
    let base = try ShippedBase(file, name)
    if let missing = series.missing { throw ShippingFault.missing(missing) }
    guard !series.segments.isEmpty else {
      return ShippedEnd(base: name, end: try base.endPoint(in: file), head: base.head)
    }
    let point = ChainPoint(offset: base.end, previousChecksum: base.slot.markChecksum)
    var end = ShippedEnd(base: name, end: point, head: base.head)
    if let last = series.segments.last {
      let header = try header(of: last)
      guard header.start >= end.point.offset else {
        throw ShippingFault.damaged(last, "begins within its base")
      }
      end.add(header)
    }
    return end
  }
}
