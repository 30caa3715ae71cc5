import AnnalsModel

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
  /// Whether one value comes before another in the order of sort keys: by kind, numbers being one
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
      return isLess(Int64(bitPattern: a.bits), Double(bitPattern: b.bits))
    case (.double, .int):
      return isLess(Double(bitPattern: a.bits), Int64(bitPattern: b.bits))
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

  /// Whether a whole number is less than a double, neither rounded.
  private static func isLess(_ a: Int64, _ b: Double) -> Bool {
    if b >= 0x1p63 { return true }
    if b < -0x1p63 { return false }
    let whole = Int64(b)
    return a < whole || a == whole && b > Double(whole)
  }

  private static func isLess(_ a: Double, _ b: Int64) -> Bool {
    if a >= 0x1p63 { return false }
    if a < -0x1p63 { return true }
    let whole = Int64(a)
    return whole < b || whole == b && a < Double(whole)
  }
}
