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
  /// The function of several objects that makes the value; then the rest is empty. Nil for none.
  private let function: TargetFunction?

  /// Binds a path that starts at an entity's objects. O(hops × properties).
  package init(
    _ path: PropertyPath, from number: EntityNumber, in state: State
  ) throws(StateFault) {
    guard let place = path.functionPlace else {
      try self.init(plain: path, from: number, in: state)
      return
    }
    do throws(StateFault) {
      // An attribute may be named as a function is.
      try self.init(plain: path, from: number, in: state)
    } catch {
      guard let function = try TargetFunction(path, at: place, from: number, in: state) else {
        throw error
      }
      self.init(function, path)
    }
  }

  private init(_ function: TargetFunction, _ path: PropertyPath) {
    (hops, column, fallbackBytes) = ([], nil, [])
    (fallback, erasedFallback, hasFallback) = (.null, .null, false)
    end = .attribute(Attribute("\(path)", function.type))
    self.function = function
  }

  /// Binds a path without a function.
  private init(
    plain path: PropertyPath, from number: EntityNumber, in state: State
  ) throws(StateFault) {
    function = nil
    var hops: ContiguousArray<Hop> = []
    var bytes: ContiguousArray<UInt8> = []
    // A state from before the entity existed has none of its objects, and so no values.
    guard var entity = state.schema.entity(numbered: number) else {
      (self.hops, end, column) = (hops, .attribute(Attribute(path.names.last ?? "", .any)), nil)
      (fallback, erasedFallback, hasFallback, fallbackBytes) = (.null, .null, false, bytes)
      return
    }
    guard !entity.isRemoved else {
      throw .query(.unknownName, "the entity \(entity.name) was removed")
    }
    for (place, name) in path.names.enumerated() {
      let isLast = place == path.names.count - 1
      let lacked = isLast ? path.lackedAttribute : nil
      if let attribute = lacked ?? entity.attribute(named: name) {
        guard isLast else {
          let reason = "\"\(name)\" of \(entity.name) is an attribute: no name can follow it"
          throw .query(.unsuitable, reason)
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
        throw .query(.unknownName, entity.unknownName(name))
      }
      guard !relationship.isToMany,
        let next = state.schema.entity(numbered: relationship.destination)
      else {
        throw .query(.unsuitable, entity.toManyReason(name))
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
  ) throws(StateFault) {
    guard let name = path.names.last else {
      throw .query(.unsuitable, "the object itself is no to-many relationship")
    }
    let owner = try BoundPath(PropertyPath(path.names.dropLast()), from: number, in: state)
    (hops, fallbackBytes, function) = (owner.hops, [], nil)
    (fallback, erasedFallback, hasFallback) = (.null, .null, false)
    switch owner.end {
    case .object(let last):
      let entity = state.schema.entity(numbered: last) ?? Entity("")
      // Behind `id` comes nothing.
      let wrong = owner.hops.count < path.names.count - 1 ? "id" : name
      guard entity.propertyNumber(named: wrong) != nil else {
        throw .query(.unknownName, entity.unknownName(wrong))
      }
      guard let relationship = entity.relationship(named: wrong), relationship.isToMany else {
        throw .query(.unsuitable, entity.notToManyReason(name))
      }
      end = .objects(relationship)
      column = state.findTable(last)?.position(of: relationship.number)
    case .attribute, .objects:
      guard state.schema.entity(numbered: number) == nil else {
        let reason = "\"\(path)\" leads through an attribute: no name can follow it"
        throw .query(.unsuitable, reason)
      }
      // A state from before the entity existed.
      (end, column) = (owner.end, nil)
    }
  }

  /// Whether the path is bound to a table of another state, of the same schema, as to its own.
  package func isBound(to table: TableView) -> Bool {
    guard hops.isEmpty, function == nil else { return false }
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
    _ body: (ValueCell, UnsafeRawBufferPointer) throws(StateFault) -> T
  ) throws(StateFault) -> T {
    guard hops.isEmpty, let column else { return try withFarCell(of: row, view, body) }
    let found = try view.cell(column)
    if !hasFallback { return try body(found.cell, found.arena) }
    return try withFallback(found, body)
  }

  /// Calls `body` with the value found, or with what stands for it.
  private func withFallback<T>(
    _ found: RowCell, _ body: (ValueCell, UnsafeRawBufferPointer) throws(StateFault) -> T
  ) throws(StateFault) -> T {
    let other =
      found.cell.isNull ? fallback : found.cell.tag == .erased ? erasedFallback : ValueCell.null
    if other.isNull { return try body(found.cell, found.arena) }
    return try fallbackBytes.withUnsafeBufferPointer { (bytes) throws(StateFault) -> T in
      try body(other, UnsafeRawBufferPointer(bytes))
    }
  }

  @inline(never)
  private func withFarCell<T>(
    of row: Int64, _ view: RowView,
    _ body: (ValueCell, UnsafeRawBufferPointer) throws(StateFault) -> T
  ) throws(StateFault) -> T {
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    if let function {
      let (cell, bytes) = try function.value(of: row, view)
      if bytes.isEmpty { return try body(cell, none) }
      return try bytes.withUnsafeBufferPointer { (bytes) throws(StateFault) -> T in
        try body(cell, UnsafeRawBufferPointer(bytes))
      }
    }
    var (view, row) = (view, row)
    // Keeps the view's memory alive.
    var group: RowGroup?
    for hop in hops {
      guard let column = hop.column, let target = hop.target else { return try body(.null, none) }
      let cell = try view.cell(column).cell
      row = Int64(bitPattern: cell.bits)
      guard cell.tag == .object, cell.length == target.number, row >= 1,
        row <= RowPosition.maximumRow
      else { return try body(.null, none) }
      let place = RowPosition(row)
      group = target.groups.group(place.group)
      guard let found = group,
        try found.isLive(place.offset)
      else { return try body(.null, none) }
      view = RowGroup.withRow(found, place) { $0 }
    }
    defer { withExtendedLifetime(group) {} }
    switch end {
    case .object(let entity):
      return try body(ValueCell(tag: .object, bits: UInt64(bitPattern: row), length: entity), none)
    case .attribute, .objects:
      return try withFallback(
        try column.map { (column) throws(StateFault) in try view.cell(column) } ?? .null, body)
    }
  }
}

extension Entity {
  /// Says that a path cannot go through, or end at, the to-many relationship of this name.
  package func toManyReason(_ name: String) -> String {
    "\"\(name)\" of \(self.name) is to-many: a path goes through to-one only. A condition on its "
      + "objects is CONTAINS or ANY"
  }

  /// Says that the property of this name is no to-many relationship.
  package func notToManyReason(_ name: String) -> String {
    let kind = relationship(named: name) == nil ? "an attribute" : "a to-one relationship"
    return "\"\(name)\" of \(self.name) is \(kind), not to-many: it is compared without ANY or "
      + "CONTAINS"
  }

  /// Says that there is no property of this name, with the nearest existing name.
  package func unknownName(_ name: String) -> String {
    let names =
      attributes.filter { !$0.isRemoved }.map(\.name)
      + relationships.filter { !$0.isRemoved }.map(\.name)
    // A name with blanks or signs was read as far as its first word.
    let longer = names.first { $0.hasPrefix(name + " ") || $0.hasPrefix(name + "-") }
    let hint = longer.map { "; did you mean \(PropertyPath([$0])), with the backticks?" }
    return "\(self.name) has no property \"\(name)\""
      + (hint ?? NearName.hint(name, among: names))
  }
}

extension PropertyPath {
  /// The attribute at the path, if the state does not have it.
  fileprivate var lackedAttribute: Attribute? {
    guard let type = replacement?.lackedType.flatMap(AttributeType.init) else { return nil }
    return names.last.map { Attribute($0, type) }
  }
}

extension BoundPath {
  /// Calls `body` with the value for a row and the bytes that it points into, valid within the call
  /// only. `view` is that of the row.
  package func read(
    _ row: Int64, _ view: RowView,
    _ body: (ValueCell, UnsafeRawBufferPointer) throws(StateFault) -> Void
  ) throws(StateFault) {
    try withCell(of: row, view, body)
  }
}
