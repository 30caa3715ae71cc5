import AnnalsModel
import AnnalsState

/// Computes one aggregate for every group.
struct Accumulator {
  let aggregate: Aggregate
  let path: BoundPath
  private var counts: ContiguousArray<Int> = []
  private var wholes: ContiguousArray<Int128> = []
  private var sums: ContiguousArray<CompensatedSum> = []
  private var exactSums: ContiguousArray<DecimalSum> = []
  private var extremes: ContiguousArray<OwnedCell?> = []
  /// Whether the numbers are doubles.
  private let areDoubles: Bool
  /// Whether they are decimals.
  private let areDecimals: Bool

  /// Throws if the values must be added and are not numbers.
  init(
    _ aggregate: Aggregate, of entity: EntityNumber, in state: State
  ) throws(StateFault) {
    self.aggregate = aggregate
    path = try BoundPath(aggregate.path, from: entity, in: state)
    var type: AttributeType?
    if case .attribute(let attribute) = path.end { type = attribute.type }
    areDoubles = type == .double
    areDecimals = type == .decimal
    switch aggregate.function {
    case .sum, .average:
      guard let type, [.int16, .int32, .int64, .double, .decimal].contains(type) else {
        throw .query(
          .unsuitable, "\(aggregate) asks for numbers, which \(aggregate.path) has not")
      }
    case .count, .minimum, .maximum: break
    }
  }

  /// Makes room for groups up to a count.
  mutating func resize(to groups: Int) {
    let new = groups - counts.count
    guard new > 0 else { return }
    counts.append(contentsOf: repeatElement(0, count: new))
    switch aggregate.function {
    case .count: break
    case .sum, .average:
      if areDecimals {
        exactSums.append(contentsOf: repeatElement(DecimalSum(), count: new))
      } else if areDoubles {
        sums.append(contentsOf: repeatElement(CompensatedSum(), count: new))
      } else {
        wholes.append(contentsOf: repeatElement(0, count: new))
      }
    case .minimum, .maximum: extremes.append(contentsOf: repeatElement(nil, count: new))
    }
  }

  /// Adds a value to each group of a list; call `resize` first.
  mutating func add(
    _ batch: CellBatch, to groups: ContiguousArray<Int>, _ sources: ConditionSources
  ) throws(StateFault) {
    for (index, cell) in batch.cells.enumerated() where !cell.isNull && cell.tag != .erased {
      let group = groups[index]
      counts[group] += 1
      switch aggregate.function {
      case .count: break
      case .sum, .average:
        if areDecimals {
          let number = batch.arena.withUnsafeBytes { RawDecimal(validBytes: cell.bytes(in: $0)) }
          exactSums[group].add(number)
        } else if areDoubles {
          // Stored values may have the narrower type that the property once had.
          sums[group].add(
            cell.tag == .double
              ? Double(bitPattern: cell.bits) : Double(Int64(bitPattern: cell.bits)))
        } else {
          wholes[group] += Int128(Int64(bitPattern: cell.bits))
        }
      case .minimum, .maximum: try noteExtreme(cell, batch, group, sources)
      }
    }
  }

  private mutating func noteExtreme(
    _ cell: ValueCell, _ batch: CellBatch, _ group: Int, _ sources: ConditionSources
  ) throws(StateFault) {
    let worse: Outcome = aggregate.function == .minimum ? .greater : .less
    let best = extremes[group]
    let better = try sources.withWhole(cell, in: batch.arena) { cell, arena -> OwnedCell? in
      if let best, best.outcome(cell, in: arena) != worse { return nil }
      return OwnedCell(cell, in: arena)
    }
    if let better { extremes[group] = better }
  }

  /// The result for a group.
  func value(_ group: Int) throws(StateFault) -> Value {
    let count = counts[group]
    switch aggregate.function {
    case .count: return .int(Int64(count))
    case .sum:
      if count == 0 { return .null }
      if areDecimals { return try decimal(exactSums[group].total) }
      if areDoubles { return try double(sums[group].divided(by: 1)) }
      guard let sum = Int64(exactly: wholes[group]) else {
        throw overflow(of: "the whole numbers of 64 bits")
      }
      return .int(sum)
    case .average:
      if count == 0 { return .null }
      if areDecimals { return try decimal(exactSums[group].divided(by: count)) }
      return try double(
        areDoubles
          ? sums[group].divided(by: Double(count)) : Double(wholes[group]) / Double(count))
    case .minimum, .maximum: return extremes[group]?.value ?? .null
    }
  }
}

extension Accumulator {
  /// A double as a value. Throws `overflow` beyond the greatest.
  private func double(_ number: Double) throws(StateFault) -> Value {
    guard number.isFinite else { throw overflow(of: "the doubles") }
    return .double(number)
  }

  /// A decimal as a value. Throws `overflow` if there is none.
  private func decimal(_ number: RawDecimal?) throws(StateFault) -> Value {
    guard let number else { throw overflow(of: "the decimals of 38 digits") }
    return .decimal(number)
  }

  private func overflow(of numbers: String) -> StateFault {
    .query(.overflow, "the sum of \(aggregate.path) is beyond \(numbers); take the average")
  }
}

extension ConditionSources {
  /// Calls `body` with a value and the bytes that it is in; with all its bytes if it is large.
  @inline(__always)
  func withWhole<T>(
    _ cell: ValueCell, in arena: ContiguousArray<UInt8>,
    _ body: (ValueCell, UnsafeRawBufferPointer) -> T
  ) throws(StateFault) -> T {
    guard cell.isLarge else { return arena.withUnsafeBytes { body(cell, $0) } }
    guard case .large(let value) = arena.withUnsafeBytes({ cell.value(in: $0) }) else {
      return body(.null, .empty)
    }
    do {
      let bytes = try largeValue(value)
      let whole = ValueCell(tag: value.tag, bits: 0, length: UInt32(clamping: bytes.count))
      return bytes.withUnsafeBytes { body(whole, $0) }
    } catch {
      throw .interrupted(error)
    }
  }
}

extension UnsafeRawBufferPointer {
  /// No bytes.
  static var empty: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}
