import AnnalsModel

/// A function of all objects that a to-many relationship or an inverse leads to, bound to a state:
/// `events.@max.start`. A class, so that paths stay small.
final class TargetFunction: Sendable {
  private let function: Aggregate.Function
  /// Where the relationship or inverse is.
  private let owner: BoundPath
  private let targets: Targets
  /// The path from each object to its value; nil for a count.
  private let values: BoundPath?
  /// The path as it was written, for messages.
  private let path: PropertyPath
  /// The type of the result.
  let type: AttributeType
  private var areDoubles: Bool { type == .double }

  /// Binds the path whose function is at `place`; nil if the state is from before there was any of
  /// the objects. Throws as `BoundPath` does, and for values that the function does not take.
  init?(
    _ path: PropertyPath, at place: Int, from number: EntityNumber, in state: State
  ) throws(StateFault) {
    guard let function = Aggregate.Function(pathName: path.names[place]),
      let (owner, targets) = try Targets.bound(
        PropertyPath(Array(path.names[..<place])), from: number, in: state)
    else { return nil }
    (self.function, self.owner, self.targets, self.path) = (function, owner, targets, path)
    guard function != .count else {
      (values, type) = (nil, .int64)
      return
    }
    let behind = PropertyPath(Array(path.names[(place + 1)...])).replacing(path.replacement)
    let values = try BoundPath(behind, from: targets.entity, in: state)
    self.values = values
    guard case .attribute(let attribute) = values.end,
      let type = function.resultType(of: attribute.type)
    else {
      let kinds = function.addsNumbers ? "numbers" : "numbers, dates or days"
      throw .query(.unsuitable, "\(path) asks for \(kinds), which \(behind) has not")
    }
    self.type = type
  }

  /// Binds a function of values of the objects that `owner` leads to; `path` is what messages call
  /// it. Throws as the other form does.
  init(
    _ function: Aggregate.Function, of value: PropertyPath, _ owner: BoundPath,
    _ targets: Targets, _ path: PropertyPath, in state: State
  ) throws(StateFault) {
    (self.function, self.owner, self.targets, self.path) = (function, owner, targets, path)
    guard function != .count else {
      (values, type) = (nil, .int64)
      return
    }
    let values = try BoundPath(value, from: targets.entity, in: state)
    self.values = values
    guard case .attribute(let attribute) = values.end,
      let type = function.resultType(of: attribute.type)
    else { throw .query(.unsuitable, "\(path) asks for other values than \(value) has") }
    self.type = type
  }

  /// A value and its bytes, which only decimals have.
  typealias Result = (cell: ValueCell, bytes: ContiguousArray<UInt8>)

  /// The value for a row. `view` is that of the row. O(objects); a count by a reference index
  /// O(log n).
  func value(of row: Int64, _ view: RowView) throws(StateFault) -> Result {
    try owner.withCell(of: row, view) { (cell, arena) throws(StateFault) in
      switch self.function {
      case .count: return (ValueCell(whole: Int64(try targets.count(at: cell, arena))), [])
      case .sum, .average:
        if type == .decimal { return try decimalSum(at: cell, arena) }
        return (try sum(at: cell, arena), [])
      case .minimum, .maximum:
        if type == .decimal { return try decimalExtreme(at: cell, arena) }
        return (try extreme(at: cell, arena), [])
      }
    }
  }

  /// Calls `body` with each value that is neither null nor erased.
  private func forEachValue(
    at cell: ValueCell, _ arena: UnsafeRawBufferPointer,
    _ body: (ValueCell, UnsafeRawBufferPointer) -> Void
  ) throws(StateFault) {
    guard let values else { return }
    try targets.forEachObject(at: cell, arena) { (row, view) throws(StateFault) in
      try values.withCell(of: row, view) { (cell, arena) throws(StateFault) in
        if !cell.isNull, cell.tag != .erased { body(cell, arena) }
      }
    }
  }

  private func decimalSum(
    at cell: ValueCell, _ arena: UnsafeRawBufferPointer
  ) throws(StateFault) -> Result {
    var count = 0
    var sum = DecimalSum()
    try forEachValue(at: cell, arena) { value, arena in
      count += 1
      sum.add(RawDecimal(validBytes: value.bytes(in: arena)))
    }
    if count == 0, function == .average { return (.null, []) }
    guard let result = function == .sum ? sum.total : sum.divided(by: count) else {
      throw overflow(of: "the decimals of 38 digits")
    }
    var bytes: ContiguousArray<UInt8> = []
    return (ValueCell(.decimal(result), appendingTo: &bytes), bytes)
  }

  private func decimalExtreme(
    at cell: ValueCell, _ arena: UnsafeRawBufferPointer
  ) throws(StateFault) -> Result {
    let better: Outcome = function == .minimum ? .less : .greater
    var best: ContiguousArray<UInt8> = []
    try forEachValue(at: cell, arena) { value, arena in
      let bytes = value.bytes(in: arena)
      if best.isEmpty || best.withUnsafeBytes({ Outcome.of(bytes, $0) == better }) {
        best = ContiguousArray(bytes)
      }
    }
    if best.isEmpty { return (.null, []) }
    return (ValueCell(tag: .decimal, bits: 0, length: UInt32(best.count)), best)
  }

  private func sum(
    at cell: ValueCell, _ arena: UnsafeRawBufferPointer
  ) throws(StateFault) -> ValueCell {
    var count = 0
    var whole: Int128 = 0
    var real = CompensatedSum()
    var hasReals = false
    try forEachValue(at: cell, arena) { value, _ in
      count += 1
      // A column that was widened to doubles has numbers of both kinds.
      if value.tag == .double {
        hasReals = true
        real.add(Double(bitPattern: value.bits))
      } else {
        whole += Int128(Int64(bitPattern: value.bits))
      }
    }
    if count == 0 { return function == .sum ? zero : .null }
    if hasReals || function == .average || areDoubles {
      if hasReals { real.add(Double(whole)) }
      let divisor = function == .average ? Double(count) : 1
      let result = hasReals ? real.divided(by: divisor) : Double(whole) / divisor
      guard result.isFinite else { throw overflow(of: "the doubles") }
      return ValueCell(real: result)
    }
    guard let sum = Int64(exactly: whole) else {
      throw overflow(of: "the whole numbers of 64 bits")
    }
    return ValueCell(whole: sum)
  }

  private var zero: ValueCell { areDoubles ? ValueCell(real: 0) : ValueCell(whole: 0) }

  private func overflow(of numbers: String) -> StateFault {
    .query(.overflow, "\(path) is beyond \(numbers)")
  }

  private func extreme(
    at cell: ValueCell, _ arena: UnsafeRawBufferPointer
  ) throws(StateFault) -> ValueCell {
    let isLeast = function == .minimum
    var best = ValueCell.null
    try forEachValue(at: cell, arena) { value, _ in
      if best.isNull || (isLeast ? value.isLess(than: best) : best.isLess(than: value)) {
        best = value
      }
    }
    return best
  }
}

extension Aggregate.Function {
  /// Whether it is of numbers alone.
  fileprivate var addsNumbers: Bool { self == .sum || self == .average }
}

extension ValueCell {
  /// A whole number.
  fileprivate init(whole number: Int64) {
    self.init(tag: .int, bits: UInt64(bitPattern: number), length: 0)
  }

  /// Whether a number, date or day is less than another, -0.0 less than 0.
  fileprivate func isLess(than other: ValueCell) -> Bool {
    switch (tag, other.tag) {
    case (.double, .double):
      let (a, b) = (Double(bitPattern: bits), Double(bitPattern: other.bits))
      return a < b || a == b && a.sign == .minus && b.sign == .plus
    case (_, .double):
      return Outcome.ofNumbers(Int64(bitPattern: bits), Double(bitPattern: other.bits)) == .less
    case (.double, _):
      return Outcome.ofNumbers(Int64(bitPattern: other.bits), Double(bitPattern: bits)) == .greater
    default: return Int64(bitPattern: bits) < Int64(bitPattern: other.bits)
    }
  }

  /// A double.
  fileprivate init(real number: Double) {
    self.init(tag: .double, bits: number.bitPattern, length: 0)
  }
}
