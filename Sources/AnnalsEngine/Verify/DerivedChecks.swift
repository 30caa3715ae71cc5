import AnnalsLog
import AnnalsModel
import AnnalsState

/// Computes the derived attributes of a state anew, and compares them with what it has. Of those of
/// functions that the program lacks it tells only what an erasure left erased. Costs what filling
/// them does.
struct DerivedChecks {
  /// The values that are others than those that follow, and those left erased.
  private(set) var findings: [StoreFinding] = []
  /// The most objects that are told of one attribute.
  private static let mostTold = 20

  /// Checks a state of a version; `hasGaps` says that what was done in between is unknown.
  init(_ state: State, of version: StoreVersion, hasGaps: Bool) throws {
    for node in Derivations(state.schema).nodes {
      let reading = try DerivedReading(
        node, in: state, version.records.bindings.functions, LogLargeValues(version.view),
        version.store, keepsGiven: true)
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
    var erased: [ObjectReference] = []
    var erasedCount = 0
    var rows = state.rows(of: entity)
    while let row = try rows.next() {
      let stored = try state.value(entity, row, node.attribute.number)
      guard reading.isPossible || stored.isErased else { continue }
      let wanted = try reading.value(of: row)
      if stored.isErased {
        // What is derived from an erased value is erased, too.
        if wanted?.isErased == true { continue }
        erasedCount += 1
        if erased.count < DerivedChecks.mostTold {
          erased.append(ObjectReference(entity: entity, row: row))
        }
        continue
      }
      guard let wanted, stored != wanted else { continue }
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
    if erasedCount > 0 { tell(erased, of: erasedCount, node, in: state) }
    if count > DerivedChecks.mostTold {
      let more = count - DerivedChecks.mostTold
      findings.append(
        StoreFinding(severity: severity, message: "\(more) more objects have a wrong \(node.name)"))
    }
  }

  /// Tells of values that were erased with others, and not computed of what is left since.
  private mutating func tell(
    _ objects: [ObjectReference], of count: Int, _ node: Derivations.Node, in state: State
  ) {
    let names = objects.map { state.schema.nameText(of: $0, key: state.keyText(of: $0)) }
    let more = count > names.count ? " and \(count - names.count) more" : ""
    findings.append(
      StoreFinding(
        severity: .note,
        message: "\(node.name) is erased in \(names.joined(separator: ", "))\(more), though "
          + "what it is derived from is not: an erasure could not compute it of what is left, or "
          + "erased it alone. It stays so until an object that it is derived from changes"))
  }
}
