import AnnalsModel
import AnnalsState

/// A value with its bytes, if it has any.
struct OwnedCell: Sendable {
  var cell: ValueCell
  var bytes: ContiguousArray<UInt8>

  init(_ cell: ValueCell, in arena: UnsafeRawBufferPointer) {
    self.cell = cell
    bytes = []
    if cell.usesArena {
      bytes.append(contentsOf: cell.bytes(in: arena))
      self.cell.bits = 0
    }
  }

  var value: Value {
    bytes.withUnsafeBufferPointer { cell.value(in: UnsafeRawBufferPointer($0)) }
  }

  /// Whether this comes before another value in the order of sort keys.
  @inline(__always)
  func precedes(_ other: ValueCell, in arena: UnsafeRawBufferPointer) -> Bool {
    bytes.withUnsafeBufferPointer {
      ValueCell.precedes(cell, UnsafeRawBufferPointer($0), other, arena)
    }
  }

  /// Whether another value comes before this.
  @inline(__always)
  func follows(_ other: ValueCell, in arena: UnsafeRawBufferPointer) -> Bool {
    bytes.withUnsafeBufferPointer {
      ValueCell.precedes(other, arena, cell, UnsafeRawBufferPointer($0))
    }
  }
}

extension ValueCell {
  /// Whether one value precedes another in the order of sort keys: by kind, with all numbers as one
  /// kind, then by value. Neither is null.
  static func precedes(
    _ a: ValueCell, _ arenaA: UnsafeRawBufferPointer, _ b: ValueCell,
    _ arenaB: UnsafeRawBufferPointer
  ) -> Bool {
    switch (a.tag, b.tag) {
    case (.int, .int), (.date, .date):
      return Int64(bitPattern: a.bits) < Int64(bitPattern: b.bits)
    case (.double, .double):
      return Double(bitPattern: a.bits) < Double(bitPattern: b.bits)
    case (.int, .double):
      return Outcome.ofNumbers(Int64(bitPattern: a.bits), Double(bitPattern: b.bits)) == .less
    case (.double, .int):
      return Outcome.ofNumbers(Int64(bitPattern: b.bits), Double(bitPattern: a.bits)) == .greater
    case (.bool, .bool): return a.bits < b.bits
    case (.object, .object):
      return a.length == b.length ? a.bits < b.bits : a.length < b.length
    default:
      let rankA = a.tag == .double ? ValueTag.int.rawValue : a.tag.rawValue
      let rankB = b.tag == .double ? ValueTag.int.rawValue : b.tag.rawValue
      guard rankA == rankB else { return rankA < rankB }
      return a.bytes(in: arenaA).lexicographicallyPrecedes(b.bytes(in: arenaB))
    }
  }
}
