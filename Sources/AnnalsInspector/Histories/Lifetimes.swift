import Annals
import AnnalsQuery

/// The lives of objects, from insert to delete, from the history alone.
///
/// Objects that existed at the base began there, or earlier. An object that was deleted and revived
/// has two lives. Timestamps may go back, so a life may end before it begins.
package struct Lifetimes {
  private struct Life {
    var object: ObjectReference
    /// The value of the display attribute, as it was last; otherwise the key.
    var label: String
    var start: Timestamp
    var end: Timestamp?
    var startsEarlier = false
  }

  private var lives: [Life] = []
  /// The index of each object's current life.
  private var open: [ObjectReference: Int] = [:]
  private var entities: [EntityNumber: String] = [:]
  /// The keys of the objects that have one.
  private var keys: [ObjectReference: String] = [:]

  /// The lives up to a transaction, and the keys of the objects; with an entity, only those of its
  /// objects.
  package static func columns(
    in store: Store, of entity: Entity?, through number: Int64
  ) throws -> (TimelineColumns, keys: [ObjectReference: String]) {
    var lifetimes = Lifetimes()
    if store.base.number > 0 { try lifetimes.addOlder(store, entity) }
    // History is searched by the newest names.
    let name = entity.flatMap { store.schema.entity(numbered: $0.number)?.name }
    let history = History(
      version: store.version, after: store.base.number, through: number,
      condition: name.map { .touches($0) } ?? .always)
    try history.forEachChange { change in
      // Another entity may have had the name.
      guard entity?.number ?? change.objectID.entity == change.objectID.entity else { return }
      try lifetimes.add(change)
    }
    return (lifetimes.columns, lifetimes.keys)
  }

  /// Adds the objects that existed at the base.
  private mutating func addOlder(_ store: Store, _ entity: Entity?) throws {
    let base = try store.version.snapshot(at: store.base.number, withOnly: [])
    let start = base.moment
    for one in base.schema.entities
    where !one.isRemoved && entity?.number ?? one.number == one.number {
      try base.reader.forEachRow(of: one.number) { row in
        let object = ObjectReference(entity: one.number, row: row)
        let name = try base.reader.name(of: object)
        let display = one.displayName.flatMap { one.attribute(named: $0) }
        let shown = try display.map { try base.reader.value(of: object, $0) } ?? .null
        begin(
          Life(object: object, label: label(shown, name), start: start, startsEarlier: true), name)
      }
    }
  }

  private mutating func add(_ change: Change) throws {
    let moment = change.page.batch.transactions[change.transaction].timestamp
    let object = ObjectReference(change.objectID)
    switch change.kind {
    case .update:
      guard let place = open[object], let display = change.entity.displayName,
        let number = change.entity.propertyNumber(named: display),
        let text = change.difference(of: number)?.after.labelText
      else { return }
      lives[place].label = text
    case .delete:
      guard let place = open.removeValue(forKey: object) else { return }
      lives[place].end = moment
    case .insert:
      // An insert has the whole object, so the state is not needed.
      let name = try change.objectName { () throws(AnnalsError) in
        preconditionFailure("an insert names its object")
      }
      begin(Life(object: object, label: label(change.displayValue, name), start: moment), name)
    }
  }

  private func label(_ display: Value, _ name: ObjectName) -> String {
    display.labelText ?? name.shortText
  }

  private mutating func begin(_ life: Life, _ name: ObjectName) {
    entities[life.object.entity] = name.entity
    keys[life.object] = name.keyText
    open[life.object] = lives.count
    lives.append(life)
  }

  private var columns: TimelineColumns {
    var columns = TimelineColumns()
    let numbers = entities.keys.sorted()
    columns.groups = numbers.map { .string(entities[$0] ?? "") }
    var groups: [EntityNumber: Int32] = [:]
    for (place, number) in numbers.enumerated() { groups[number] = Int32(place) }
    let order = lives.indices.sorted {
      lives[$0].object != lives[$1].object ? lives[$0].object < lives[$1].object : $0 < $1
    }
    for place in order {
      let life = lives[place]
      columns.append(
        life.object, start: life.start.microseconds, end: life.end?.microseconds ?? 0,
        kind: life.end == nil ? .ongoing : .range, marks: life.startsEarlier ? .startsEarlier : [])
      columns.appendGroup(groups[life.object.entity])
      columns.appendLabel(life.label)
    }
    return columns
  }
}

extension Value {
  /// The value as a label; nil for one that shows nothing.
  fileprivate var labelText: String? {
    isNull || isErased || plainText.isEmpty ? nil : plainText
  }
}
