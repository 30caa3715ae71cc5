import AnnalsModel

/// A path bound to the tables of a state: where its value is for each row.
package struct BoundPath: Sendable {
  /// A to-one relationship on the path: its column, and its destination table.
  struct Hop: Sendable {
    let column: Int?
    let target: Table?
  }

  /// What a path ends at.
  package enum End: Sendable {
    case attribute(Attribute)
    /// An object of this entity; the object itself if there are no hops.
    case object(EntityNumber)
    /// The ids in a to-many relationship.
    case objects(Relationship)
  }

  /// The relationships on the path; if it ends at an object, the last leads to it.
  let hops: ContiguousArray<Hop>
  package let end: End
  /// The column of the attribute or to-many relationship; nil for an object, and if no object has
  /// a value.
  let column: Int?
  /// What stands for no value; null for nothing.
  let fallback: ValueCell
  /// What stands for an erased value; null for nothing.
  private let erasedFallback: ValueCell
  /// Whether anything stands for either.
  private let hasFallback: Bool
  let fallbackBytes: ContiguousArray<UInt8>

  /// Binds a path that starts at an entity's objects. O(hops × properties).
  package init(
    _ path: PropertyPath, from number: EntityNumber, in state: State
  ) throws(ConditionError) {
    var hops: ContiguousArray<Hop> = []
    var bytes: ContiguousArray<UInt8> = []
    // A state from before the entity existed has none of its objects, and so no values.
    guard var entity = state.schema.entity(numbered: number) else {
      (self.hops, end, column) = (hops, .attribute(Attribute(path.names.last ?? "", .any)), nil)
      (fallback, erasedFallback, hasFallback, fallbackBytes) = (.null, .null, false, bytes)
      return
    }
    guard !entity.isRemoved else {
      throw ConditionError(.unknownEntity, path, "the entity \(entity.name) was removed")
    }
    for (place, name) in path.names.enumerated() {
      let isLast = place == path.names.count - 1
      let lacked = isLast ? path.lackedAttribute : nil
      if let attribute = lacked ?? entity.attribute(named: name) {
        guard isLast else {
          let reason = "\"\(name)\" of \(entity.name) is an attribute: no name can follow it"
          throw ConditionError(.notToOne, path, reason)
        }
        self.hops = hops
        end = .attribute(attribute)
        column =
          lacked == nil ? state.findTable(entity.number)?.position(of: attribute.number) : nil
        let value = lacked != nil || attribute.isOptional ? .null : attribute.defaultValue ?? .null
        fallback = ValueCell(
          value.isNull ? path.replacement?.missing ?? .null : value, appendingTo: &bytes)
        erasedFallback = ValueCell(path.replacement?.erased ?? .null, appendingTo: &bytes)
        hasFallback = !fallback.isNull || !erasedFallback.isNull
        fallbackBytes = bytes
        return
      }
      if isLast, name.hasSameBytes(as: "id"), entity.relationship(named: name) == nil { break }
      guard let relationship = entity.relationship(named: name) else {
        throw ConditionError(.unknownProperty, path, entity.unknownName(name))
      }
      guard !relationship.isToMany,
        let next = state.schema.entity(numbered: relationship.destination)
      else {
        throw ConditionError(.notToOne, path, entity.toManyReason(name))
      }
      hops.append(
        Hop(
          column: state.findTable(entity.number)?.position(of: relationship.number),
          target: state.findTable(next.number)))
      entity = next
    }
    self.hops = hops
    end = .object(entity.number)
    column = nil
    fallback = .null
    erasedFallback = .null
    hasFallback = false
    fallbackBytes = []
  }

  /// Binds a path that ends at a to-many relationship. O(hops × properties).
  package init(
    toMany path: PropertyPath, from number: EntityNumber, in state: State
  ) throws(ConditionError) {
    guard let name = path.names.last else {
      throw ConditionError(.notToMany, path, "the object itself is no to-many relationship")
    }
    let owner = try BoundPath(PropertyPath(path.names.dropLast()), from: number, in: state)
    (hops, fallbackBytes) = (owner.hops, [])
    (fallback, erasedFallback, hasFallback) = (.null, .null, false)
    switch owner.end {
    case .object(let last):
      let entity = state.schema.entity(numbered: last) ?? Entity("")
      // Behind `id` comes nothing.
      let wrong = owner.hops.count < path.names.count - 1 ? "id" : name
      guard entity.propertyNumber(named: wrong) != nil else {
        throw ConditionError(.unknownProperty, path, entity.unknownName(wrong))
      }
      guard let relationship = entity.relationship(named: wrong), relationship.isToMany else {
        throw ConditionError(.notToMany, path, entity.notToManyReason(name))
      }
      end = .objects(relationship)
      column = state.findTable(last)?.position(of: relationship.number)
    case .attribute, .objects:
      guard state.schema.entity(numbered: number) == nil else {
        let reason = "\"\(path)\" leads through an attribute: no name can follow it"
        throw ConditionError(.notToOne, path, reason)
      }
      // A state from before the entity existed.
      (end, column) = (owner.end, nil)
    }
  }

  /// Whether the path is bound to a table of another state, of the same schema, as to its own.
  package func isBound(to table: TableView) -> Bool {
    guard hops.isEmpty else { return false }
    switch end {
    case .attribute(let attribute): return table.column(of: attribute.number) == column
    case .objects(let relationship): return table.column(of: relationship.number) == column
    case .object: return true
    }
  }

  /// Calls `body` with the value of a row and the bytes that it refers to, valid only within the
  /// call. `view` is that of the row.
  @inline(__always)
  func withCell<T>(
    of row: Int64, _ view: RowView,
    _ body: (ValueCell, UnsafeRawBufferPointer) throws(ConditionFault) -> T
  ) throws(ConditionFault) -> T {
    guard hops.isEmpty, let column else { return try withFarCell(of: row, view, body) }
    let found = try BoundPath.cell(column, view)
    if !hasFallback { return try body(found.cell, found.arena) }
    return try withFallback(found, body)
  }

  /// Calls `body` with the value found, or with what stands for it.
  private func withFallback<T>(
    _ found: RowCell, _ body: (ValueCell, UnsafeRawBufferPointer) throws(ConditionFault) -> T
  ) throws(ConditionFault) -> T {
    let other =
      found.cell.isNull ? fallback : found.cell.tag == .erased ? erasedFallback : ValueCell.null
    if other.isNull { return try body(found.cell, found.arena) }
    return try fallbackBytes.withUnsafeBufferPointer { (bytes) throws(ConditionFault) -> T in
      try body(other, UnsafeRawBufferPointer(bytes))
    }
  }

  @inline(__always)
  private static func cell(_ column: Int, _ view: RowView) throws(ConditionFault) -> RowCell {
    try ConditionFault.reading { () throws(StateFault) in try view.cell(column) }
  }

  @inline(never)
  private func withFarCell<T>(
    of row: Int64, _ view: RowView,
    _ body: (ValueCell, UnsafeRawBufferPointer) throws(ConditionFault) -> T
  ) throws(ConditionFault) -> T {
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    var (view, row) = (view, row)
    // Keeps the view's memory alive.
    var group: RowGroup?
    for hop in hops {
      guard let column = hop.column, let target = hop.target else { return try body(.null, none) }
      let cell = try BoundPath.cell(column, view).cell
      row = Int64(bitPattern: cell.bits)
      guard cell.tag == .object, cell.length == target.number, row >= 1,
        row <= RowPosition.maximumRow
      else { return try body(.null, none) }
      let place = RowPosition(row)
      group = target.groups.group(place.group)
      guard let found = group,
        try ConditionFault.reading({ () throws(StateFault) in try found.isLive(place.offset) })
      else { return try body(.null, none) }
      view = RowGroup.withRow(found, place) { $0 }
    }
    defer { withExtendedLifetime(group) {} }
    switch end {
    case .object(let entity):
      return try body(ValueCell(tag: .object, bits: UInt64(bitPattern: row), length: entity), none)
    case .attribute, .objects:
      return try withFallback(
        try column.map { (column) throws(ConditionFault) in
          try BoundPath.cell(column, view)
        } ?? .null, body)
    }
  }
}

extension PropertyPath {
  /// The attribute at the path, if the state does not have it.
  fileprivate var lackedAttribute: Attribute? {
    guard let type = replacement?.lackedType.flatMap(AttributeType.init) else { return nil }
    return names.last.map { Attribute($0, type) }
  }
}
