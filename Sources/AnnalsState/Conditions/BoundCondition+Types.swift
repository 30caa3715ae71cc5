import AnnalsModel

// Which values can be compared with each other.

extension BoundPath {
  /// Throws if the value can never equal one at the path, because of its kind.
  package func requireComparable(_ value: Value, _ path: PropertyPath) throws(StateFault) {
    let isComparable: Bool
    let kind: String
    switch end {
    case .attribute(let attribute):
      isComparable = attribute.type.isComparable(with: value)
      kind = "\(attribute.type)"
    case .object:
      isComparable = value.isNull || value.tag == .object
      kind = "object"
    case .objects: (isComparable, kind) = (false, "objects")
    }
    guard !isComparable else { return }
    if kind == "\(AttributeType.date)", case .double(let number) = value,
      !Timestamp.holds(secondsSince2001: number)
    {
      throw .query(.unsuitable, "\"\(path)\": \(Timestamp.rangeText)")
    }
    throw .query(
      .unsuitable,
      "\"\(path)\" is of type \(kind) and does not compare with \(value.conditionText), of type "
        + "\(value.tag)")
  }

  /// Throws if no value at the path can be a text.
  func requireText(_ path: PropertyPath) throws(StateFault) {
    let kind: String
    switch end {
    case .attribute(let attribute):
      if attribute.type.tag?.isText ?? true { return }
      kind = "\(attribute.type)"
    case .object: kind = "object"
    case .objects: kind = "objects"
    }
    throw .query(.unsuitable, "\"\(path)\" is of type \(kind), which is no text")
  }
}

extension Operand {
  /// The operand of a value that is compared with one of an attribute's type; nil for nil and for a
  /// list.
  init?(_ value: Value, for path: BoundPath) {
    if case .attribute(let attribute) = path.end, attribute.type == .decimal {
      // As bytes, which compare faster than numbers.
      switch value {
      case .int(let number):
        self.init(RawDecimal(number))
        return
      case .double(let number):
        if let exact = RawDecimal(exactly: number) {
          self.init(exact)
          return
        }
      default: break
      }
    }
    self.init(value)
  }
}

/// A set of values to test membership in: searched by kind, then by order.
struct OperandSet: Sendable {
  private var operands: ContiguousArray<(rank: UInt8, operand: Operand)> = []
  private var large: ContiguousArray<LargeValue> = []
  private let hasNull: Bool

  init(_ values: [Value]) {
    hasNull = values.contains { $0.isNull }
    var sorted: [(rank: UInt8, value: Value, operand: Operand)] = []
    for value in values {
      if case .large(let one) = value { large.append(one) }
      if case .double(let number) = value, number.isNaN { continue }
      guard let operand = Operand(value) else { continue }
      if case .large = operand { continue }
      sorted.append((value.tag.rank, value, operand))
    }
    sorted.sort { a, b in
      if a.rank != b.rank { return a.rank < b.rank }
      var arena: ContiguousArray<UInt8> = []
      let cell = ValueCell(a.value, appendingTo: &arena)
      return arena.withUnsafeBytes { b.operand.outcome(of: cell, in: $0) } == .less
    }
    operands = ContiguousArray(sorted.map { ($0.rank, $0.operand) })
  }

  /// Whether the cell, whose bytes are at hand, equals one of the values. O(log of their count).
  func contains(_ cell: ValueCell, in arena: UnsafeRawBufferPointer) -> Bool {
    if cell.isNull { return hasNull }
    let rank = cell.tag.rank
    var low = 0
    var high = operands.count
    while low < high {
      let middle = (low + high) / 2
      if operands[middle].rank != rank {
        if operands[middle].rank < rank { low = middle + 1 } else { high = middle }
        continue
      }
      switch operands[middle].operand.outcome(of: cell, in: arena) {
      case .equal: return true
      case .greater: low = middle + 1
      case .less: high = middle
      default: return false
      }
    }
    return false
  }

  /// Whether a large value that was not read equals one of those that were not, either.
  func contains(_ value: LargeValue) -> Bool { large.contains(value) }

  /// Whether a large value can only be unequal to all of these, as its description shows.
  func isUnequal(_ value: LargeValue) -> Bool {
    operands.allSatisfy { $0.operand.isUnequal(value) } && !large.contains(value)
  }
}
