import AnnalsDescription
import AnnalsInspection
import AnnalsStorage

/// A whole file to scale: its regions, neighbours joined so that there are not too many.
struct FileStrip: Sendable {
  /// One region, or several that follow one another.
  struct Piece: Sendable {
    /// Where the first region begins; a walk may begin there.
    var offset: UInt64
    var length: UInt64
    var count: Int
    var isOk: Bool
    /// The bytes by kind.
    var kinds: [String: UInt64]

    var end: UInt64 { offset + length }
    /// The only kind, or `mixed`.
    var kind: String { kinds.count == 1 ? kinds.keys.first ?? "" : "mixed" }
  }

  private(set) var pieces: [Piece] = []
  let size: UInt64
  private static let most = 8_192

  init(size: UInt64) { self.size = size }

  /// Walks the whole file.
  static func walk(
    _ file: any StorageFile, _ cancellation: Cancellation? = nil,
    from start: UInt64 = 0, to end: UInt64 = .max, report: (FileStrip) -> Void = { _ in }
  ) throws -> FileStrip {
    var walk = try FileWalk(file)
    var strip = FileStrip(size: walk.size)
    if start > 0 { walk.jump(to: start) }
    var passed = 0
    while let region = try walk.next(), region.offset < end {
      strip.append(region)
      passed += 1
      if passed.isMultiple(of: 1_024) {
        try cancellation?.check()
        report(strip)
      }
    }
    return strip
  }

  private mutating func append(_ region: FileRegion) {
    let outline = RegionDescription(outlineOf: region)
    let kind = outline.kind.hasPrefix("slot") ? "slot" : outline.kind
    pieces.append(
      Piece(
        offset: region.offset, length: region.length, count: 1, isOk: !outline.hasProblem,
        kinds: [kind: region.length]))
    if pieces.count > FileStrip.most { pieces = FileStrip.joined(pieces, into: FileStrip.most / 2) }
  }

  /// The pieces between two offsets, joined so that there are at most so many.
  func pieces(from start: UInt64, to end: UInt64, most: Int) -> [Piece] {
    FileStrip.joined(pieces.filter { $0.end > start && $0.offset < end }, into: most)
  }

  /// Where a walk to an offset may begin.
  func anchor(before offset: UInt64) -> UInt64 {
    pieces.last { $0.offset <= offset && $0.isOk }?.offset ?? 0
  }

  /// Joins neighbours of one kind; where that is not enough, those that are smallest for the scale.
  static func joined(_ pieces: [Piece], into most: Int) -> [Piece] {
    guard pieces.count > most else { return pieces }
    var joined: [Piece] = []
    for piece in pieces {
      if let last = joined.last, last.isOk == piece.isOk, last.kinds.count == 1,
        last.kinds.keys == piece.kinds.keys
      {
        joined[joined.count - 1].append(piece)
      } else {
        joined.append(piece)
      }
    }
    guard joined.count > most, let first = joined.first, let last = joined.last else {
      return joined
    }
    let width = max(1, (last.end - first.offset) / UInt64(most))
    var coarse: [Piece] = []
    for piece in joined {
      // What is wrong stays visible.
      if let last = coarse.last, last.isOk, piece.isOk,
        last.offset / width == piece.offset / width
      {
        coarse[coarse.count - 1].append(piece)
      } else {
        coarse.append(piece)
      }
    }
    return Array(coarse.prefix(2 * most))
  }
}

extension FileStrip.Piece {
  fileprivate mutating func append(_ next: FileStrip.Piece) {
    length += next.length
    count += next.count
    isOk = isOk && next.isOk
    kinds.merge(next.kinds) { $0 + $1 }
  }
}
