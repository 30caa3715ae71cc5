import AnnalsLog
import AnnalsModel
import AnnalsState

/// Computes the derived attributes of a state anew, and compares them with what it has. Those of
/// functions that the program lacks are left out. Costs what filling them does.
struct DerivedChecks {
  /// The values that are others than those that follow.
  private(set) var findings: [StoreFinding] = []
  /// The most objects that are told of one attribute.
  private static let mostTold = 20

  /// Checks a state of a version; `hasGaps` says that what was done in between is unknown.
  init(_ state: State, of version: StoreVersion, hasGaps: Bool) throws {
    for node in Derivations(state.schema).nodes {
      let reading = try DerivedReading(
        node, in: state, version.records.bindings.functions, LogLargeValues(version.view),
        version.store, keepsGiven: true)
      guard reading.isPossible else { continue }
      try check(node, reading, in: state, hasGaps ? .note : .error)
    }
  }

  private mutating func check(
    _ node: Derivations.Node, _ reading: DerivedReading, in state: State,
    _ severity: StoreFinding.Severity
  ) throws {
    let entity = node.entity.number
    let implied = node.attribute.isOptional ? .null : node.attribute.defaultValue ?? .null
    var count = 0
    var rows = state.rows(of: entity)
    while let row = try rows.next() {
      guard let wanted = try reading.value(of: row) else { continue }
      let stored = try state.value(entity, row, node.attribute.number)
      // What an erasure has left stays erased until something else changes.
      if stored.isErased || stored == wanted { continue }
      if stored.isNull ? wanted == implied : wanted.isNull && stored == implied { continue }
      count += 1
      if count > DerivedChecks.mostTold { continue }
      let object = ObjectReference(entity: entity, row: row)
      let name = state.schema.nameText(of: object, key: state.keyText(of: object))
      findings.append(
        StoreFinding(
          severity: severity,
          message: "\(name).\(node.attribute.name) is \(stored.shortDescription), and "
            + "\(wanted.shortDescription) follows from "
            + "\(state.schema.naming(node.derivation, of: node.entity)). A writer that does not "
            + "know derived attributes has been here; change what it is derived from"))
    }
    if count > DerivedChecks.mostTold {
      let more = count - DerivedChecks.mostTold
      findings.append(
        StoreFinding(severity: severity, message: "\(more) more objects have a wrong \(node.name)"))
    }
  }
}
