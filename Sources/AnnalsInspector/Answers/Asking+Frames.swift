import Annals
import AnnalsDescription
import AnnalsFormat
import AnnalsInspection
import AnnalsLog

extension Asking {
  /// The whole file to scale, or a part of it.
  package func strip() throws -> StripDocument {
    let known = try currentStrip(waiting: patience)
    let most = try parameters.count("pieces", default: 600, within: 1...2_000)
    let size = known.strip.size
    let from = min(try byte("from") ?? 0, size)
    let to = max(from, min(try byte("to") ?? size, size))
    var strip = known.strip
    let coarse = strip.pieces(from: from, to: to, most: .max)
    if coarse.count < most, coarse.contains(where: { $0.count > 1 }), to - from <= 16 << 20 {
      // A part that the picture of the whole does not show closely enough.
      strip = try StoreFile.with(path: file.path, locking: false) {
        try FileStrip.walk($0.file, cancellation, from: strip.anchor(before: from), to: to)
      }
    }
    let pieces = strip.pieces(from: from, to: to, most: most).map { piece in
      StripDocument.Piece(
        offset: piece.offset, length: piece.length, kind: piece.kind, count: piece.count,
        isOk: piece.isOk, kinds: piece.kinds.count > 1 ? piece.kinds : nil)
    }
    return StripDocument(
      size: size, progress: known.progress, from: from, to: to, pieces: pieces,
      command: command("dump").text)
  }

  /// An offset in the file.
  private func byte(_ name: String) throws -> UInt64? {
    try parameters.number(name).map { UInt64(max(0, $0)) }
  }

  private func currentStrip(
    waiting: Duration
  ) throws -> (strip: FileStrip, progress: Double) {
    let path = file.path
    let stamp = try file.stamp()
    let known = try file.strip.current(of: stamp, waiting: WorkTime(waiting)) { survey in
      try StoreFile.with(path: path, locking: false) { found in
        try FileStrip.walk(found.file) { part in
          let done = Double(part.pieces.last?.end ?? 0)
          survey.report(done / Double(max(1, part.size)), part)
        }
      }
    }
    return (known.result ?? FileStrip(size: stamp.size), known.share)
  }

  /// A page of regions, each described.
  package func frames() throws -> FramesDocument {
    let limit = max(1, try limit(500, most: 2_000))
    let from = try byte("from") ?? 0
    let to = try byte("to") ?? .max
    return try StoreFile.with(path: file.path, locking: false) { found in
      var walk = try FileWalk(found.file)
      let beginning = walk
      var describing = FrameDescription(knowing: vocabulary())
      describing.maximumItems = 3
      try seek(&walk, to: from)
      var regions: [FramesDocument.Region] = []
      while regions.count < limit, let region = try walk.next(), region.offset < to {
        try cancellation.check()
        regions.append(
          FramesDocument.Region(try describing.describe(region, in: &walk), region))
      }
      let end = walk.position
      var damage: String?
      var logEnd: UInt64?
      // The end of the log is found by a walk of its own: only where it is shown.
      if end >= walk.size {
        let found = try LogEnd.find(in: beginning)
        logEnd = found.end
        if case .damaged(let reason) = found.tail { damage = reason }
      }
      return FramesDocument(
        size: walk.size, regions: regions, next: end < walk.size ? end : nil, end: logEnd,
        damage: damage, isStore: walk.seed != nil,
        command: command("dump").option("from", "\(from)").option("limit", "\(limit)").text)
    }
  }

  /// Moves a walk before the region that holds a byte, from the nearest known place.
  private func seek(_ walk: inout FileWalk, to offset: UInt64) throws {
    guard offset > 0 else { return }
    if let strip = try? currentStrip(waiting: .zero).strip {
      let anchor = strip.anchor(before: min(offset, walk.size))
      if anchor >= FormatLimits.logStart { walk.jump(to: anchor) }
    }
    try walk.skip(to: offset)
  }

  /// The names of the store, if it can be opened.
  private func vocabulary() -> Vocabulary {
    var vocabulary = Vocabulary()
    guard let view = try? opened().version.view, view.names.count < 100_000 else {
      return vocabulary
    }
    vocabulary.learn(view.schema, names: view.names, openings: view.openings)
    return vocabulary
  }

  /// The bytes of one region, with the fields that explain them.
  package func bytes() throws -> BytesDocument {
    let offset = try byte("offset") ?? 0
    let skip = try byte("skip") ?? 0
    let length = try parameters.count("length", default: 4_096, within: 1...65_536)
    return try StoreFile.with(path: file.path, locking: false) { found in
      var walk = try FileWalk(found.file)
      guard offset < walk.size else {
        throw RequestFault(
          "the file has \(walk.size) bytes; there is none at \(offset)", .notFound,
          parameter: "offset")
      }
      let previous = try regionBefore(offset, walk)
      try seek(&walk, to: offset)
      guard let region = try walk.next() else {
        throw RequestFault("there is no region at \(offset)", .notFound, parameter: "offset")
      }
      let names = vocabulary()
      var describing = FrameDescription(knowing: names)
      let described = try describing.describe(region, in: &walk)
      let fields = FieldWindow(
        from: region.offset + skip, to: region.offset + skip + UInt64(length))
      let annotation = ByteAnnotation(vocabulary: names)
      try annotation.annotate(region, in: &walk) { field, _ in fields.add(field) }
      let bytes = try walk.withBytes(of: region, from: skip, count: length) { [UInt8]($0) }
      return BytesDocument(
        described, region, bytes: Base64Text.encode(bytes), skip: skip, fields,
        previous: previous, next: region.end < walk.size ? region.end : nil,
        command: command("dump").flag("bytes", true).option("from", "\(region.offset)")
          .option("limit", "1").text)
    }
  }

  /// Where the region before that of a byte begins; nil at the beginning.
  private func regionBefore(_ offset: UInt64, _ start: FileWalk) throws -> UInt64? {
    guard offset > 0 else { return nil }
    var walk = start
    try seek(&walk, to: offset)
    let begin = walk.position
    guard begin > 0 else { return nil }
    var before = start
    try seek(&before, to: begin - 1)
    return before.position
  }
}

/// The fields that overlap a window.
private final class FieldWindow {
  let from: UInt64
  let to: UInt64
  private(set) var fields: [BytesDocument.Field] = []
  private(set) var more = 0
  private static let most = 4_096

  init(from: UInt64, to: UInt64) {
    self.from = from
    self.to = to
  }

  func add(_ field: AnnotatedField) {
    guard field.offset < to, field.offset + max(field.length, 1) > from else { return }
    guard fields.count < FieldWindow.most else {
      more += 1
      return
    }
    fields.append(
      BytesDocument.Field(
        offset: field.offset, length: field.length, depth: field.depth, name: field.name,
        value: field.value.clipped(to: 1_000)))
  }
}

extension FramesDocument.Region {
  fileprivate init(_ described: RegionDescription, _ region: FileRegion) {
    let summary = described.fields.prefix(6).map { "\($0.name) \($0.value.clipped(to: 60))" }
    self.init(
      offset: described.offset, length: described.length, kind: described.kind,
      flags: described.flags.isEmpty ? nil : described.flags,
      checksum: described.checksum.isEmpty ? nil : described.checksum,
      chain: described.chain.isEmpty ? nil : described.chain, isOk: !described.hasProblem,
      summary: summary.isEmpty ? nil : summary.joined(separator: ", "))
  }
}

extension BytesDocument {
  fileprivate init(
    _ described: RegionDescription, _ region: FileRegion, bytes: String, skip: UInt64,
    _ window: FieldWindow, previous: UInt64?, next: UInt64?, command: String
  ) {
    self.init(
      offset: region.offset, length: region.length, kind: described.kind,
      flags: described.flags.isEmpty ? nil : described.flags, isOk: !described.hasProblem,
      checksum: described.checksum.isEmpty ? nil : described.checksum,
      chain: described.chain.isEmpty ? nil : described.chain,
      durableMark: described.durableMark,
      details: described.fields.prefix(200).map {
        Detail(name: $0.name, value: $0.value.clipped(to: 1_000))
      }, skip: skip, bytes: bytes, fields: window.fields, moreFields: window.more,
      previous: previous, next: next, command: command)
  }
}
