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

  /// How this compares with another value in the order of sort keys.
  @inline(__always)
  func outcome(_ other: ValueCell, in arena: UnsafeRawBufferPointer) -> Outcome {
    bytes.withUnsafeBufferPointer {
      ValueCell.outcome(cell, UnsafeRawBufferPointer($0), other, arena)
    }
  }
}

extension ValueCell {
  /// How two values compare in the order of sort keys: by kind, then by value. Neither is null, or
  /// large.
  static func outcome(
    _ a: ValueCell, _ arenaA: UnsafeRawBufferPointer, _ b: ValueCell,
    _ arenaB: UnsafeRawBufferPointer
  ) -> Outcome {
    switch (a.tag, b.tag) {
    case (.int, .int), (.date, .date), (.day, .day):
      return .of(Int64(bitPattern: a.bits), Int64(bitPattern: b.bits))
    case (.double, .double):
      return .of(Double(bitPattern: a.bits).order, Double(bitPattern: b.bits).order)
    case (.int, .double):
      return ofNumbers(Int64(bitPattern: a.bits), Double(bitPattern: b.bits))
    case (.double, .int):
      return ofNumbers(Int64(bitPattern: b.bits), Double(bitPattern: a.bits)).mirrored
    case (.decimal, .int), (.decimal, .double):
      return ofNumbers(RawDecimal(validBytes: a.bytes(in: arenaA)), b)
    case (.int, .decimal), (.double, .decimal):
      return ofNumbers(RawDecimal(validBytes: b.bytes(in: arenaB)), a).mirrored
    case (.bool, .bool): return .of(a.bits & 1, b.bits & 1)
    case (.object, .object):
      return a.length == b.length ? .of(a.bits, b.bits) : .of(a.length, b.length)
    default:
      guard a.tag.rank == b.tag.rank else { return .of(a.tag.rank, b.tag.rank) }
      return .of(a.bytes(in: arenaA), b.bytes(in: arenaB))
    }
  }

  /// A decimal and an integer or a double, none rounded; -0.0 before 0, NaNs at both ends.
  private static func ofNumbers(_ a: RawDecimal, _ b: ValueCell) -> Outcome {
    guard b.tag == .double else { return .of(a, RawDecimal(Int64(bitPattern: b.bits))) }
    let number = Double(bitPattern: b.bits)
    if number.isNaN { return number.sign == .minus ? .greater : .less }
    let outcome = Outcome.ofNumbers(a, number)
    return outcome == .equal && number == 0 && number.sign == .minus ? .greater : outcome
  }

  /// A whole number and a double, neither rounded; -0.0 before 0, NaNs at both ends.
  private static func ofNumbers(_ a: Int64, _ b: Double) -> Outcome {
    if b.isNaN { return b.sign == .minus ? .greater : .less }
    let outcome = Outcome.ofNumbers(a, b)
    return outcome == .equal && b == 0 && b.sign == .minus ? .greater : outcome
  }
}
