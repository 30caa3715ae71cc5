import AnnalsModel

/// The possible results of comparing two values.
@frozen @usableFromInline
package struct Outcome: OptionSet, Sendable {
  @usableFromInline package let rawValue: UInt8
  @inlinable package init(rawValue: UInt8) { self.rawValue = rawValue }

  @inlinable package static var less: Outcome { Outcome(rawValue: 1) }
  @inlinable package static var equal: Outcome { Outcome(rawValue: 2) }
  @inlinable package static var greater: Outcome { Outcome(rawValue: 4) }
  /// None of these: nil, NaN, or values of kinds that cannot be compared.
  package static let unordered = Outcome(rawValue: 8)

  /// The outcomes for which a comparison is true.
  init(_ comparison: Condition.Comparison) {
    switch comparison {
    case .equal: self = .equal
    case .notEqual: self = [.less, .greater, .unordered]
    case .less: self = .less
    case .lessOrEqual: self = [.less, .equal]
    case .greater: self = .greater
    case .greaterOrEqual: self = [.greater, .equal]
    }
  }

  /// How `a` compares with `b`.
  @inlinable @inline(__always)
  package static func of<T: Comparable>(_ a: T, _ b: T) -> Outcome {
    a < b ? .less : a == b ? .equal : .greater
  }

  /// Compares an integer with a double, without rounding either.
  package static func ofNumbers(_ number: Int64, _ other: Double) -> Outcome {
    if other.isNaN { return .unordered }
    if other >= 0x1p63 { return .less }
    if other < -0x1p63 { return .greater }
    let whole = Int64(other)
    if number != whole { return number < whole ? .less : .greater }
    // A double without its fraction is a double, so this is exact.
    return of(Double(whole), other)
  }

  /// Compares a decimal with a double, without rounding either.
  package static func ofNumbers(_ number: RawDecimal, _ other: Double) -> Outcome {
    guard other.isFinite else { return other.isNaN ? .unordered : other > 0 ? .less : .greater }
    // Beyond all decimals.
    guard let near = RawDecimal.notGreater(than: other) else { return other > 0 ? .less : .greater }
    let outcome = of(number, near.number)
    return outcome == .equal && !near.isEqual ? .less : outcome
  }

  /// How bytes compare.
  package static func of(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Outcome {
    let common = min(a.count, b.count)
    var index = 0
    while common - index >= 8 {
      let x = a.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      let y = b.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      if x != y { return x.bigEndian < y.bigEndian ? .less : .greater }
      index += 8
    }
    while index < common {
      if a[index] != b[index] { return a[index] < b[index] ? .less : .greater }
      index += 1
    }
    return of(a.count, b.count)
  }

  /// The outcome with the sides exchanged.
  package var mirrored: Outcome { self == .less ? .greater : self == .greater ? .less : self }
}

/// A condition's value, prepared for comparison with cells.
enum Operand: Sendable {
  case bool(Bool)
  case int(Int64)
  case double(Double)
  case date(Int64)
  case day(Int64)
  /// A decimal and its bytes.
  indirect case decimal(RawDecimal, ContiguousArray<UInt8>)
  case uuid(RawUUID)
  case object(ObjectReference)
  case bytes(ValueTag, ContiguousArray<UInt8>)
  case large(LargeValue)

  /// The operand of a value; nil for nil and for a list.
  init?(_ value: Value) {
    switch value {
    case .null, .objects, .erased: return nil
    case .bool(let flag): self = .bool(flag)
    case .int(let number): self = .int(number)
    case .double(let number): self = .double(number)
    case .date(let moment): self = .date(moment.microseconds)
    case .uuid(let uuid): self = .uuid(uuid)
    case .day(let day): self = .day(day.daysSince1970)
    case .decimal(let number): self.init(number)
    case .object(let object): self = .object(object)
    case .string(let text), .url(let text), .json(let text):
      self = .bytes(value.tag, ContiguousArray(text.utf8))
    case .data(let bytes): self = .bytes(.data, ContiguousArray(bytes))
    case .large(let value): self = .large(value)
    }
  }

  /// The operand of a decimal.
  init(_ number: RawDecimal) {
    var bytes: ContiguousArray<UInt8> = []
    number.append(to: &bytes)
    self = .decimal(number, bytes)
  }

  /// Compares a cell, whose bytes are in memory, with this. O(length).
  @inline(__always)
  func outcome(of cell: ValueCell, in arena: UnsafeRawBufferPointer) -> Outcome {
    switch self {
    case .int(let number):
      if cell.tag == .int { return .of(Int64(bitPattern: cell.bits), number) }
      guard cell.tag == .double else { return outcome(ofDecimal: cell, in: arena) }
      return Outcome.ofNumbers(number, Double(bitPattern: cell.bits)).mirrored
    case .date(let moment):
      return cell.tag == .date ? .of(Int64(bitPattern: cell.bits), moment) : .unordered
    case .double(let number):
      if cell.tag == .int { return .ofNumbers(Int64(bitPattern: cell.bits), number) }
      if cell.tag == .decimal { return outcome(ofDecimal: cell, in: arena) }
      guard cell.tag == .double, !number.isNaN else { return .unordered }
      return .of(Double(bitPattern: cell.bits), number)
    case .bool(let flag):
      return cell.tag == .bool ? .of(cell.bits & 1, flag ? 1 : 0) : .unordered
    case .bytes(let tag, let bytes):
      guard cell.tag == tag else { return .unordered }
      return bytes.withUnsafeBytes { .of(cell.bytes(in: arena), $0) }
    case .uuid(let uuid):
      guard cell.tag == .uuid else { return .unordered }
      let start = Int(cell.bits)
      let high = arena.loadUnaligned(fromByteOffset: start, as: UInt64.self).bigEndian
      if high != uuid.high { return .of(high, uuid.high) }
      let low = arena.loadUnaligned(fromByteOffset: start + 8, as: UInt64.self).bigEndian
      return .of(low, uuid.low)
    case .object(let object):
      guard cell.tag == .object else { return .unordered }
      if cell.length != object.entity { return .of(cell.length, object.entity) }
      return .of(Int64(bitPattern: cell.bits), object.row)
    case .day(let day):
      return cell.tag == .day ? .of(Int64(bitPattern: cell.bits), day) : .unordered
    case .decimal(let number, let bytes):
      guard cell.tag == .decimal else { return outcome(of: cell, comparedWith: number) }
      return bytes.withUnsafeBytes { .of(cell.bytes(in: arena), $0) }
    case .large: return .unordered
    }
  }

  /// Compares a decimal with an integer or a double.
  @inline(never)
  private func outcome(ofDecimal cell: ValueCell, in arena: UnsafeRawBufferPointer) -> Outcome {
    guard cell.tag == .decimal else { return .unordered }
    let number = RawDecimal(validBytes: cell.bytes(in: arena))
    switch self {
    case .int(let other): return .of(number, RawDecimal(other))
    case .double(let other): return .ofNumbers(number, other)
    default: return .unordered
    }
  }

  /// Compares a number that is no decimal with one.
  @inline(never)
  private func outcome(of cell: ValueCell, comparedWith number: RawDecimal) -> Outcome {
    switch cell.tag {
    case .int: .of(RawDecimal(Int64(bitPattern: cell.bits)), number)
    case .double: Outcome.ofNumbers(number, Double(bitPattern: cell.bits)).mirrored
    default: .unordered
    }
  }

  /// Whether a large value's description shows that it is unequal to this.
  func isUnequal(_ value: LargeValue) -> Bool {
    switch self {
    case .bytes(let tag, let bytes): tag != value.tag || UInt64(bytes.count) != value.length
    case .large(let other): other != value
    default: true
    }
  }
}
