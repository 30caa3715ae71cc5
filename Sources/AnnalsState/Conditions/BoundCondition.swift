import AnnalsModel

/// What evaluating a condition needs besides the state.
package struct ConditionSources: Sendable {
  /// Reads the bytes of a large value; called only if its description does not decide.
  package var largeValue: @Sendable (LargeValue) throws -> ContiguousArray<UInt8>
  /// Removes the accents of a text; called only for texts beyond ASCII.
  package var removingDiacritics: @Sendable (String) -> String

  package init(
    largeValue: @escaping @Sendable (LargeValue) throws -> ContiguousArray<UInt8>,
    removingDiacritics: @escaping @Sendable (String) -> String
  ) {
    self.largeValue = largeValue
    self.removingDiacritics = removingDiacritics
  }
}

/// A condition bound to an entity of a state, to be evaluated on its rows.
///
/// A value like the state: it reads the objects as they were when it was bound. The tests form a
/// sequence; each names the test to go on with if it is true and if it is false. So AND, OR and NOT
/// cost nothing, and evaluation stops as soon as the result is known.
package struct BoundCondition: Sendable {
  struct Step: Sendable {
    let path: BoundPath
    let test: Test
    let next: (ifTrue: Int, ifFalse: Int)
  }

  /// One test of one value.
  enum Test: Sendable {
    case isNil
    case compare(Outcome, Operand)
    case isBetween(Operand, Operand)
    case isIn(OperandSet)
    case text(TextPattern)
    case contains(ObjectReference)
    case some(TargetTest)
    case count(Targets, Condition.Comparison, Int64)
  }

  /// The end of evaluation: the condition is met.
  static let accepted = -1
  private static let rejected = -2

  private(set) var table: Table
  private let entity: EntityNumber
  private var sources: ConditionSources
  /// A jump table: each test names the earlier tests to run next.
  private(set) var steps: ContiguousArray<Step> = []
  private(set) var entry = BoundCondition.accepted

  /// Binds the condition to an entity, which a state of the past may not have yet. Throws if a name
  /// is unknown, a path does not go through to-one relationships, or a value cannot be compared
  /// with its property.
  package init(
    _ condition: Condition, over entity: EntityNumber, in state: State, _ sources: ConditionSources
  ) throws(StateFault) {
    table = state.tableOrEmpty(of: entity)
    self.entity = entity
    self.sources = sources
    entry = try emit(
      condition, state, (BoundCondition.accepted, BoundCondition.rejected))
  }

  /// The condition over another state of the same schema; nil if it must be bound anew. O(tests).
  package func rebound(to state: State, _ sources: ConditionSources) -> BoundCondition? {
    guard let newer = state.table(entity),
      steps.allSatisfy({ $0.path.isBound(to: newer) && !$0.test.readsOthers })
    else { return nil }
    var copy = self
    copy.table = newer.table
    copy.sources = sources
    return copy
  }

  /// Whether all rows meet it, or none; nil if that depends on the rows.
  package var constant: Bool? { entry >= 0 ? nil : entry == BoundCondition.accepted }

  /// Appends the tests of a condition, after those that follow it. Returns the index of its first
  /// test.
  private mutating func emit(
    _ condition: Condition, _ state: State, _ next: (ifTrue: Int, ifFalse: Int)
  ) throws(StateFault) -> Int {
    switch condition.form {
    case .constant(let flag): return flag ? next.ifTrue : next.ifFalse
    case .not(let inner): return try emit(inner, state, (next.ifFalse, next.ifTrue))
    case .all(let parts):
      var entry = next.ifTrue
      for part in parts.reversed() { entry = try emit(part, state, (entry, next.ifFalse)) }
      return entry
    case .any(let parts):
      var entry = next.ifFalse
      for part in parts.reversed() { entry = try emit(part, state, (next.ifTrue, entry)) }
      return entry
    case .isNil(let path): return append(try bind(path, state, []), .isNil, next)
    case .comparison(let path, let comparison, let value):
      let bound = try bind(path, state, [value], isForOrder: comparison.isOrder)
      guard let operand = Operand(value, for: bound) else { return next.ifFalse }
      return append(bound, .compare(Outcome(comparison), operand), next)
    case .isBetween(let path, let low, let high):
      let bound = try bind(path, state, [low, high], isForOrder: true)
      guard let low = Operand(low, for: bound), let high = Operand(high, for: bound) else {
        return next.ifFalse
      }
      return append(bound, .isBetween(low, high), next)
    case .isIn(let path, let values):
      return append(try bind(path, state, values), .isIn(OperandSet(values)), next)
    case .text(let path, let test):
      let bound = try bind(path, state, [])
      try bound.requireText(path)
      let pattern = TextPattern(test, removingDiacritics: sources.removingDiacritics)
      return append(bound, .text(pattern), next)
    case .contains(let path, let object):
      if let (owner, targets) = try Targets.inverse(path, from: entity, in: state) {
        let test = try TargetTest(
          .compare([], .equal, .object(object)), targets, in: state, sources)
        return append(owner, .some(test), next)
      }
      let bound = try BoundPath(toMany: path, from: entity, in: state)
      try bound.requireLeading(to: object, path, state.schema)
      return append(bound, .contains(object), next)
    case .some(let path, let inner):
      guard let (bound, targets) = try Targets.bound(path, from: entity, in: state) else {
        return next.ifFalse
      }
      return append(bound, .some(try TargetTest(inner, targets, in: state, sources)), next)
    case .count(let path, let comparison, let count):
      guard let (bound, targets) = try Targets.bound(path, from: entity, in: state) else {
        return comparison.isTrue(0, count) ? next.ifTrue : next.ifFalse
      }
      return append(bound, .count(targets, comparison, count), next)
    }
  }

  private mutating func append(
    _ path: BoundPath, _ test: Test, _ next: (ifTrue: Int, ifFalse: Int)
  ) -> Int {
    steps.append(Step(path: path, test: test, next: next))
    return steps.count - 1
  }

  private func bind(
    _ path: PropertyPath, _ state: State, _ values: [Value], isForOrder: Bool = false
  ) throws(StateFault) -> BoundPath {
    let bound = try BoundPath(path, from: entity, in: state)
    for value in values {
      try bound.requireComparable(value, path)
      if isForOrder, case .large = value {
        throw .query(.unsuitable, "a value that was not read has no order: \(path)")
      }
    }
    return bound
  }
}

// Evaluation.
extension BoundCondition {
  /// The block of 256 rows that a row is in.
  package func block(of row: Int64) -> RowBlock { TableView(table).block(of: row) }

  /// Whether a row of a block has an object.
  package func contains(_ row: Int64, in block: RowBlock) throws(StateFault) -> Bool {
    try block.isLive(row)
  }

  /// Whether a row of a block meets the condition; false for a row without an object.
  package func matches(_ row: Int64, in block: RowBlock) throws(StateFault) -> Bool {
    guard try contains(row, in: block) else { return false }
    guard entry >= 0 else { return entry == BoundCondition.accepted }
    var scratch: ContiguousArray<UInt8> = []
    guard let values = block.view(of: row) else { return false }
    let result = try matches(row, values, &scratch)
    withExtendedLifetime(block) {}
    return result
  }

  /// As `matches(_:in:)`.
  package func matches(_ row: Int64) throws(StateFault) -> Bool {
    try matches(row, in: block(of: row))
  }

  /// Whether the row with these values meets the condition.
  func matches(
    _ row: Int64, _ values: RowView, _ scratch: inout ContiguousArray<UInt8>
  ) throws(StateFault) -> Bool {
    var place = entry
    while place >= 0 {
      let isTrue = try steps.withUnsafeBufferPointer { (steps) throws(StateFault) -> Bool in
        try steps[place].path.withCell(of: row, values) { (cell, arena) throws(StateFault) in
          try holds(steps[place].test, cell, arena, &scratch)
        }
      }
      place = isTrue ? steps[place].next.ifTrue : steps[place].next.ifFalse
    }
    return place == BoundCondition.accepted
  }

  @inline(__always)
  func holds(
    _ test: Test, _ cell: ValueCell, _ arena: UnsafeRawBufferPointer,
    _ scratch: inout ContiguousArray<UInt8>
  ) throws(StateFault) -> Bool {
    if cell.isLarge { return try holdsOfLarge(test, cell, arena, &scratch) }
    switch test {
    case .isNil: return cell.isNull
    case .compare(let outcomes, let operand):
      return outcomes.contains(operand.outcome(of: cell, in: arena))
    case .isBetween(let low, let high):
      return !low.outcome(of: cell, in: arena).isDisjoint(with: [.equal, .greater])
        && !high.outcome(of: cell, in: arena).isDisjoint(with: [.equal, .less])
    case .isIn(let set): return set.contains(cell, in: arena)
    case .text(let pattern):
      guard cell.tag.isText else { return false }
      return pattern.matches(cell.bytes(in: arena), &scratch)
    case .contains(let object):
      return cell.tag == .objects && object.isListed(in: cell.bytes(in: arena))
    case .some(let test): return try test.holds(ofAnyAt: cell, arena)
    case .count(let targets, let comparison, let count):
      return comparison.isTrue(Int64(try targets.count(at: cell, arena)), count)
    }
  }

  @inline(never)
  private func holdsOfLarge(
    _ test: Test, _ cell: ValueCell, _ arena: UnsafeRawBufferPointer,
    _ scratch: inout ContiguousArray<UInt8>
  ) throws(StateFault) -> Bool {
    guard case .large(let value) = cell.value(in: arena) else { return false }
    switch test {
    case .isNil: return false
    case .compare(let outcomes, .large(let other)):
      return outcomes.contains(value == other ? .equal : .unordered)
    case .compare(.equal, let operand) where operand.isUnequal(value): return false
    case .isIn(let set) where set.isUnequal(value): return false
    case .isIn(let set) where set.contains(value): return true
    default: break
    }
    let bytes: ContiguousArray<UInt8>
    do {
      bytes = try sources.largeValue(value)
    } catch {
      throw .interrupted(error)
    }
    guard bytes.count <= Int(UInt32.max) else { return false }
    let whole = ValueCell(tag: value.tag, bits: 0, length: UInt32(bytes.count))
    return try bytes.withUnsafeBufferPointer { (bytes) throws(StateFault) -> Bool in
      try holds(test, whole, UnsafeRawBufferPointer(bytes), &scratch)
    }
  }
}
