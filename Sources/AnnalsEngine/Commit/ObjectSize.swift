import AnnalsFormat
import AnnalsModel
import AnnalsState

// An insert or delete holds the whole object, and one change must fit into one frame. So an object
// is kept short enough for one change: whatever was written can be deleted.

extension Draft {
  /// Throws `.tooLarge` if the last change of the batch exceeds the limit of one change.
  func requireWithinLimit(_ batch: ChangeBatch) throws(AnnalsError) {
    let length = batch.rowLength(ofChange: batch.changes.count - 1)
    guard length > FormatLimits.maximumChangeLength, let change = batch.changes.last else { return }
    let name = nameText(
      of: ObjectReference(entity: change.entity, row: change.row))
    let remedy =
      switch change.kind {
      case .insert: AnnalsError.tooLongRemedy
      case .update: "Change its properties in several"
      case .delete: "Clear some of its properties before"
      }
    throw AnnalsError(
      .tooLarge,
      "the \(change.kind) of \(name) takes \(length) bytes; the most for one object in one "
        + "transaction is \(FormatLimits.maximumChangeLength). \(remedy)")
  }

  /// Throws `.tooLarge` if the transaction has made an object too long for the change that would
  /// delete it.
  ///
  /// Call it for updated objects of entities that admit such objects. O(properties).
  func requireDeletable(_ object: ObjectReference) throws(AnnalsError) {
    let state = reader.state
    let limit = FormatLimits.maximumChangeLength
    try AnnalsError.translating {
      guard try state.greatestLength(of: object) > limit else { return }
      let length = try state.changeLength(of: object)
      guard length > limit, try length > base.changeLength(of: object) else { return }
      throw AnnalsError(
        .tooLarge,
        "\(nameText(of: object)) would take \(length) bytes; the most for one object "
          + "is \(limit). \(AnnalsError.tooLongRemedy)")
    }
  }
}

extension AnnalsError {
  fileprivate static var tooLongRemedy: String {
    "Values over \(FormatLimits.largeValueThreshold) bytes are kept by themselves and do not "
      + "count; long lists can be spread over several objects"
  }
}

extension Entity {
  /// The greatest length of one object's attributes in row form.
  fileprivate var greatestAttributesLength: Int {
    // Besides the value: its kind and length, and its bit in the set of properties.
    16 + attributes.count * (FormatLimits.largeValueThreshold + 4)
      + Int(nextPropertyNumber) / 8
  }

  /// Whether an object of the entity can become too long for one change.
  var admitsLongObjects: Bool {
    relationships.contains(where: \.isToMany)
      || greatestAttributesLength > FormatLimits.maximumChangeLength
  }
}

extension State {
  /// An upper bound of an object's length in row form, from the lengths of its lists alone.
  fileprivate func greatestLength(of object: ObjectReference) throws(StateFault) -> Int {
    guard let entity = schema.entity(numbered: object.entity) else { return 0 }
    var result = entity.greatestAttributesLength + entity.relationships.count * 16
    for relationship in entity.relationships where relationship.isToMany {
      result += try withCell(object.entity, object.row, relationship.number) { cell, _ in
        cell.usesArena ? Int(cell.length) : 0
      }
    }
    return result
  }

  /// The length of an object's insert or delete in row form.
  fileprivate func changeLength(of object: ObjectReference) throws(StateFault) -> Int {
    var batch = ChangeBatch()
    var changes = NetChanges(from: State(schema: schema), to: self)
    guard try changes.append(object, to: &batch) else { return 0 }
    return batch.rowLength(ofChange: 0)
  }
}
