import Annals

/// Shows changes, with their values before and after.
package struct ChangeShowing {
  /// Which properties are shown.
  package enum Detail {
    case none
    /// Those of updates, and the display attribute of what was inserted or deleted.
    case line
    case all
  }

  let values: ValueShowing
  /// The newest state, for labels of objects whose changes do not have them; nil for no labels.
  let newest: StateReader?
  private let detail: Detail

  package init(values: ValueShowing, newest: StateReader? = nil, detail: Detail = .all) {
    (self.values, self.newest, self.detail) = (values, newest, detail)
  }

  /// Shows a change; `state` is that just after it, for names that it does not contain.
  package func shown(
    _ change: Change, _ state: () throws(AnnalsError) -> StateReader
  ) throws -> ShownChange {
    values.departed.begin(change)
    return try shown(change, naming: state)
  }

  /// Shows a change, named by the states.
  package func shown(_ change: Change, _ states: NamingStates) throws -> ShownChange {
    try shown(
      change, { () throws(AnnalsError) in try states.reader(at: change.transactionNumber) })
  }

  /// Shows a difference, with the names of the state that has the object. Of one that was deleted
  /// while another was inserted under the same key, the properties in which the two differ.
  package func shown(_ difference: ObjectDifference) throws -> ShownChange {
    let (change, old, new) = (difference.change, difference.old, difference.new)
    values.departed.begin(change, after: old)
    guard let successor = difference.successor else {
      let state = change.kind == .delete ? old : new
      return try shown(change, naming: { () throws(AnnalsError) in state })
    }
    var result = try shown(successor, naming: { () throws(AnnalsError) in new })
    let (before, after) = (change.properties, successor.properties)
    result.kind = "replace"
    let numbers = before.map(\.number) + after.map(\.number).filter { before.first(of: $0) == nil }
    result.properties = try numbers.compactMap { number in
      let (first, last) = (before.first(of: number), after.first(of: number))
      let pair = (first?.before ?? .null, last?.after ?? .null)
      guard pair.0 != pair.1, let name = (last ?? first)?.name else { return nil }
      return try values.shown(name, (pair.0, old), (pair.1, new))
    }
    let more = result.properties.count - values.limits.properties
    result.properties = Array(result.properties.prefix(values.limits.properties))
    result.more = more > 0 ? more : nil
    return result
  }

  private func shown(
    _ change: Change, naming state: () throws(AnnalsError) -> StateReader
  ) throws -> ShownChange {
    let (kind, limits) = (change.kind, values.limits)
    let name = try change.objectName(state)
    var shown = ShownChange(
      kind: kind.word, object: ShownObject(name, exists: kind != .delete, cut: limits.name),
      properties: [])
    if let newest { shown.label = try label(of: change, in: newest) }
    if detail == .none { return shown }
    let entity = kind == .update ? nil : change.entity
    let key = entity?.keyAttribute?.number
    let display = entity?.displayName.flatMap { entity?.propertyNumber(named: $0) }
    let properties = change.properties
    if detail == .all || kind == .update {
      shown.properties.reserveCapacity(min(properties.count, limits.properties))
    }
    for property in properties {
      guard detail == .all || kind == .update || property.number == display else { continue }
      if shown.properties.count == limits.properties { break }
      var difference = try self.shown(property, of: kind, state)
      if property.number == key { difference.isKey = true }
      if property.number == display { difference.isDisplay = true }
      shown.properties.append(difference)
    }
    let left = properties.count - shown.properties.count
    if left > 0 { shown.more = left }
    return shown
  }

  /// The display attribute of the object: as the change has it, otherwise as it is now.
  private func label(of change: Change, in newest: StateReader) throws -> String? {
    if let text = change.displayValue.shortLabel { return text }
    let entity = change.entity
    guard let display = entity.displayName.flatMap({ entity.attribute(named: $0) }) else {
      return nil
    }
    if let difference = change.difference(of: display.number) {
      return difference.after.shortLabel ?? difference.before.shortLabel
    }
    let object = ObjectReference(change.objectID)
    guard try newest.exists(object) else { return nil }
    return try newest.value(of: object, display).shortLabel
  }

  private func shown(
    _ difference: PropertyDifference, of kind: ChangeKind,
    _ state: () throws(AnnalsError) -> StateReader
  ) throws -> ShownDifference {
    var shown = ShownDifference(property: difference.name)
    if let edits = difference.edits {
      shown.edits = try self.shown(edits, state())
      return shown
    }
    if kind == .update, try values.show(difference.before, difference.after, in: &shown) {
      return shown
    }
    if kind != .insert { shown.before = try values.shown(difference.before, state) }
    if kind != .delete { shown.after = try values.shown(difference.after, state) }
    return shown
  }

  private func shown(_ edits: RelationshipEdits, _ state: StateReader) throws -> ShownEdits {
    let parts = edits.parts
    let most = values.limits.edits
    func list(_ edits: [RelationshipEdits.Edit]) throws -> [ShownEdits.Edit] {
      try edits.prefix(most).map {
        ShownEdits.Edit(position: $0.position, object: try values.shown($0.object, state))
      }
    }
    let more = [parts.removed.count, parts.inserted.count, parts.moved.count]
      .reduce(0) { $0 + max(0, $1 - most) }
    return ShownEdits(
      removed: try list(parts.removed), inserted: try list(parts.inserted),
      moved: try parts.moved.prefix(most).map {
        ShownEdits.Move(from: $0.from, to: $0.to, object: try values.shown($0.object, state))
      },
      more: more)
  }
}

extension ChangeKind {
  /// `insert`, `update` or `delete`.
  package var word: String {
    switch self {
    case .insert: "insert"
    case .update: "update"
    case .delete: "delete"
    }
  }
}
