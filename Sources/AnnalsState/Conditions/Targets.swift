import AnnalsModel

/// The objects that a to-many relationship or an inverse leads to. A class, so that the tests of
/// other conditions stay small.
final class Targets: Sendable {
  /// Where they are found.
  private enum Source: Sendable {
    /// In the list that the path ends at.
    case list
    /// By the reference index: they refer to the object that the path ends at.
    case index(IndexView)
    /// As `index`, where the store keeps none: each object of this table is asked. O(objects).
    case column(TableView, Int)
  }

  /// The entity of the objects.
  let entity: EntityNumber
  private let table: Table
  private let source: Source

  private init(_ entity: EntityNumber, _ source: Source, in state: State) {
    self.entity = entity
    self.source = source
    table = state.tableOrEmpty(of: entity)
  }

  /// Binds a path that ends at a to-many relationship or an inverse; nil if the state is from
  /// before there was any. Throws as `BoundPath` does.
  static func bound(
    _ path: PropertyPath, from number: EntityNumber, in state: State
  ) throws(StateFault) -> (BoundPath, Targets)? {
    if let inverse = try inverse(path, from: number, in: state) { return inverse }
    let bound = try BoundPath(toMany: path, from: number, in: state)
    guard case .objects(let relationship) = bound.end else { return nil }
    return (bound, Targets(relationship.destination, .list, in: state))
  }

  /// Binds a path that ends at an inverse; nil if it ends at anything else.
  static func inverse(
    _ path: PropertyPath, from number: EntityNumber, in state: State
  ) throws(StateFault) -> (BoundPath, Targets)? {
    guard let name = path.names.last, state.schema.entity(numbered: number) != nil else {
      return nil
    }
    let owner: BoundPath
    do throws(StateFault) {
      owner = try BoundPath(PropertyPath(path.names.dropLast()), from: number, in: state)
    } catch {
      // Whoever binds it as another path says what is wrong.
      return nil
    }
    guard case .object(let last) = owner.end,
      state.schema.entity(numbered: last)?.propertyNumber(named: name) == nil,
      let (source, relationship) = state.schema.inverse(named: name, of: last)
    else { return nil }
    return (owner, try Targets(inverseOf: relationship, source.number, in: state))
  }

  /// The path and the objects of a relationship of an entity, by numbers: those that its list has,
  /// or those that refer to an object of `number` by it.
  static func bound(
    _ relationship: Relationship, of owner: EntityNumber, isInverse: Bool,
    from number: EntityNumber, in state: State
  ) throws(StateFault) -> (BoundPath, Targets) {
    if isInverse {
      let targets = try Targets(inverseOf: relationship, owner, in: state)
      return (try BoundPath([], from: number, in: state), targets)
    }
    let path = try BoundPath(toMany: [relationship.name], from: number, in: state)
    return (path, Targets(relationship.destination, .list, in: state))
  }

  private convenience init(
    inverseOf relationship: Relationship, _ entity: EntityNumber, in state: State
  ) throws(StateFault) {
    if let view = try state.index(entity, relationship.number) {
      self.init(entity, .index(view), in: state)
    } else if let table = state.table(entity), let column = table.column(of: relationship.number) {
      self.init(entity, .column(table, column), in: state)
    } else {
      self.init(entity, .list, in: state)
    }
  }

  /// Whether `test` is true of the row of an object that a cell leads to; a list gives rows in its
  /// order, also of objects that are gone.
  func contains(
    at cell: ValueCell, _ arena: UnsafeRawBufferPointer,
    where test: (Int64) throws(StateFault) -> Bool
  ) throws(StateFault) -> Bool {
    switch source {
    case .list:
      guard cell.tag == .objects else { return false }
      let list = cell.bytes(in: arena)
      for offset in stride(from: 0, to: list.count, by: ObjectReference.byteCount) {
        let object = ObjectReference(bytes: list, at: offset)
        if object.entity == entity, try test(object.row) { return true }
      }
    case .index, .column:
      guard cell.tag == .object else { return false }
      let target = ObjectReference(entity: cell.length, row: Int64(bitPattern: cell.bits))
      for row in try referrers(to: target) where try test(row) { return true }
    }
    return false
  }

  /// Calls `body` with the row and the values of each object that a cell leads to, as often as it
  /// is listed.
  func forEachObject(
    at cell: ValueCell, _ arena: UnsafeRawBufferPointer,
    _ body: (Int64, RowView) throws(StateFault) -> Void
  ) throws(StateFault) {
    let view = TableView(table)
    var block = RowBlock.none
    _ = try contains(at: cell, arena) { (row) throws(StateFault) in
      if !block.contains(row) { block = view.block(of: row) }
      if try block.isLive(row), let values = block.view(of: row) { try body(row, values) }
      return false
    }
    withExtendedLifetime(block) {}
  }

  private func referrers(to target: ObjectReference) throws(StateFault) -> [Int64] {
    switch source {
    case .list: return []
    case .index(let view): return try view.referrers(to: target.row)
    case .column(let table, let column):
      var found: [Int64] = []
      var rows = table.rows
      while let row = try rows.next() {
        if try table.value(row, column: column).targets.contains(target) { found.append(row) }
      }
      return found
    }
  }

  /// How many objects a cell leads to. O(log n) by an index.
  func count(
    at cell: ValueCell, _ arena: UnsafeRawBufferPointer
  ) throws(StateFault) -> Int {
    if case .index(let view) = source, cell.tag == .object {
      return try view.countOfReferrers(to: Int64(bitPattern: cell.bits))
    }
    var count = 0
    _ = try contains(at: cell, arena) { (row) throws(StateFault) in
      if try table.contains(row) { count += 1 }
      return false
    }
    return count
  }
}
