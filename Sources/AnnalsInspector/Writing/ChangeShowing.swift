import Annals

/// Shows changes, with their values before and after.
struct ChangeShowing {
  let values: ValueShowing
  /// The newest state, for labels of objects whose changes do not have them.
  let newest: StateReader?

  static let mostProperties = 200
  static let mostEdits = 50

  /// Shows a change; `state` is that just after it, for names that it does not contain.
  func shown(
    _ change: Change, _ state: () throws(AnnalsError) -> StateReader
  ) throws -> ShownChange {
    let name = try change.objectName(state)
    let reference = ObjectReference(change.objectID)
    var shown = ShownChange(
      kind: "\(change.kind)", object: ShownObject(name, exists: change.kind != .delete),
      properties: [])
    shown.label = try label(of: change, reference)
    let properties = change.properties
    for property in properties.prefix(ChangeShowing.mostProperties) {
      shown.properties.append(try self.shown(property, of: change.kind, state))
    }
    if properties.count > ChangeShowing.mostProperties {
      shown.more = properties.count - ChangeShowing.mostProperties
    }
    return shown
  }

  /// The display attribute of the object: as the change has it, otherwise as it is now.
  private func label(of change: Change, _ object: ObjectReference) throws -> String? {
    if let text = change.displayValue.shortLabel { return text }
    let entity = change.entity
    guard let display = entity.displayName.flatMap({ entity.attribute(named: $0) }) else {
      return nil
    }
    if let difference = change.difference(of: display.number) {
      return difference.after.shortLabel ?? difference.before.shortLabel
    }
    guard let newest, try newest.exists(object) else { return nil }
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
    if kind != .insert { shown.before = try values.shown(difference.before, state) }
    if kind != .delete { shown.after = try values.shown(difference.after, state) }
    return shown
  }

  private func shown(_ edits: RelationshipEdits, _ state: StateReader) throws -> ShownEdits {
    let parts = edits.parts
    let most = ChangeShowing.mostEdits
    func list(_ edits: [RelationshipEdits.Edit]) throws -> [ShownEdits.Edit] {
      try edits.prefix(most).map {
        ShownEdits.Edit(position: $0.position, object: try ShownObject($0.object, in: state))
      }
    }
    let more = [parts.removed.count, parts.inserted.count, parts.moved.count]
      .reduce(0) { $0 + max(0, $1 - most) }
    return ShownEdits(
      removed: try list(parts.removed), inserted: try list(parts.inserted),
      moved: try parts.moved.prefix(most).map {
        ShownEdits.Move(from: $0.from, to: $0.to, object: try ShownObject($0.object, in: state))
      },
      more: more)
  }
}
