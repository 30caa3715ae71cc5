import AnnalsModel
import AnnalsState

/// Checks all net changes of a transaction against the schema before the commit.
struct ChangeValidation {
  let state: State
  private let largeValues: any LargeValueSource
  /// The rules of the state's schema.
  let rules: CommitRules
  /// The most violations that are kept; a bad import may have millions.
  private static let limit = 1_000
  private(set) var violations: [ValidationViolation] = []
  /// Whether an attribute of any kind was given a decimal or a day, which the file announces.
  private(set) var hasDecimalOrDay = false
  /// Whether relationships may refer to objects that do not exist.
  private let allowsDangling: Bool
  /// Whether required values may be missing.
  let allowsMissing: Bool
  /// Whether what becomes required is checked elsewhere, at the end of the last migration.
  let isOfMigration: Bool
  /// The earlier state that the changes are based on or restore; nil for none. What an object
  /// refers to there may have been deleted since.
  private let earlier: State?

  /// Creates a validation against the state at the end of the transaction, by the rules of its
  /// schema.
  init(_ draft: Draft, by rules: CommitRules) {
    state = draft.reader.state
    largeValues = draft.largeValues
    self.rules = rules
    allowsDangling = draft.origin.allowsDangling
    allowsMissing = draft.origin.allowsMissing
    isOfMigration = draft.origin.isMigration
    earlier = draft.earlier
  }

  /// Checks one change of the batch. Returns whether objects of its entity can become too long for
  /// one change.
  mutating func check(_ entry: ChangeEntry, in batch: ChangeBatch) throws(AnnalsError) -> Bool {
    guard entry.kind != .delete, let rules = rules.entity(entry.entity) else { return false }
    if entry.kind == .insert, !allowsMissing { checkRequired(entry, rules, in: batch) }
    for position in entry.propertyRange {
      let change = batch.properties[position]
      // Rules do not apply to erased values. Only erasures and imports write them.
      if change.after.tag == .erased { continue }
      switch rules.check(change.property) {
      case .none: continue
      case .finite:
        guard change.after.tag == .double, !Double(bitPattern: change.after.bits).isFinite else {
          continue
        }
        add(rules, entry, change.property, .finite, .double(Double(bitPattern: change.after.bits)))
      case .int16:
        if ChangeValidation.fits(change.after, Int16.self) { continue }
        try checkAttribute(change, rules, entry, in: batch)
      case .int32:
        if ChangeValidation.fits(change.after, Int32.self) { continue }
        try checkAttribute(change, rules, entry, in: batch)
      case .attribute: try checkAttribute(change, rules, entry, in: batch)
      case .relationship:
        guard let relationship = rules.relationship(change.property) else { continue }
        try check(relationship, rules, entry, change, in: batch)
      }
    }
    if entry.kind == .update, !allowsMissing { checkCleared(entry, rules, in: batch) }
    for rule in rules.rulesOfNumbers { try checkEqualKeys(rule, entry, rules, in: batch) }
    if !allowsMissing {
      for relationship in rules.limited { try checkCount(relationship, rules, entry, in: batch) }
    }
    return rules.admitsLongObjects
  }

  /// Adds a violation if another object has equal values by a unique rule, under another key.
  private mutating func checkEqualKeys(
    _ rule: UniqueRule, _ entry: ChangeEntry, _ rules: EntityRules, in batch: ChangeBatch
  ) throws(AnnalsError) {
    let isTouched = entry.propertyRange.contains {
      rule.properties.contains(batch.properties[$0].property)
    }
    guard isTouched || rules.entity.hasPartialIndex(rule.number),
      violations.count < ChangeValidation.limit
    else { return }
    try AnnalsError.translating {
      guard let other = try state.rowOfEqualKey(to: entry.row, of: entry.entity, rule) else {
        return
      }
      let found = UniqueViolation(
        entity: entry.entity, rule: rule.number, row: entry.row, otherRow: other)
      violations.append(ValidationViolation(found, in: state))
    }
  }

  private static func fits<T: FixedWidthInteger>(_ cell: ValueCell, _ type: T.Type) -> Bool {
    cell.tag == .int && T(exactly: Int64(bitPattern: cell.bits)) != nil
  }

  private mutating func checkAttribute(
    _ change: PropertyChange, _ rules: EntityRules, _ entry: ChangeEntry, in batch: ChangeBatch
  ) throws(AnnalsError) {
    guard let attribute = rules.attribute(change.property) else { return }
    if change.after.tag.isDecimalOrDay { hasDecimalOrDay = true }
    // A required attribute without a value reads as its default.
    if change.after.isNull, allowsMissing || attribute.defaultValue != nil { return }
    let isUnique = rules.isUnique(change.property)
    let value = try value(change.after, of: attribute, isUnique, in: batch)
    if let rule = attribute.violation(of: value, isUnique: isUnique) {
      add(rules, entry, change.property, rule, value)
    }
  }

  private mutating func checkRequired(
    _ entry: ChangeEntry, _ rules: EntityRules, in batch: ChangeBatch
  ) {
    var position = entry.propertyRange.lowerBound
    let end = entry.propertyRange.upperBound
    for property in rules.required {
      while position < end, batch.properties[position].property < property { position += 1 }
      if position == end || batch.properties[position].property != property {
        add(rules, entry, property, .required, .null)
      }
    }
  }

  /// Adds violations for required properties that an update cleared and that no other check covers.
  private mutating func checkCleared(
    _ entry: ChangeEntry, _ rules: EntityRules, in batch: ChangeBatch
  ) {
    for position in entry.propertyRange where batch.properties[position].after.isNull {
      let property = batch.properties[position].property
      switch rules.check(property) {
      case .attribute, .int16, .int32: continue
      case .none, .finite, .relationship: break
      }
      guard rules.isRequired(property) else { continue }
      add(rules, entry, property, .required, .null)
    }
  }

  private mutating func check(
    _ relationship: Relationship, _ rules: EntityRules, _ entry: ChangeEntry,
    _ change: PropertyChange, in batch: ChangeBatch
  ) throws(AnnalsError) {
    let targets = batch.arena.withUnsafeBytes { arena -> [ObjectReference] in
      change.isEdits
        ? RelationshipEdits.list(change.after, in: arena).map(\.object)
        : change.after.value(in: arena).targets
    }
    for target in targets {
      if target.entity != relationship.destination {
        let name = state.schema.entity(numbered: relationship.destination)?.name ?? "?"
        add(rules, entry, change.property, .destination(name), .object(target))
        continue
      }
      if allowsDangling { continue }
      let isAllowed = try AnnalsError.translating {
        if try state.contains(target.entity, target.row) { return true }
        let before = try earlier?.value(entry.entity, entry.row, change.property).targets
        return before?.contains(target) ?? false
      }
      if !isAllowed { add(rules, entry, change.property, .existing(target), .object(target)) }
    }
  }

  /// The value; a large one is read only if a rule looks at its bytes.
  private func value(
    _ cell: ValueCell, of attribute: Attribute, _ isUnique: Bool, in batch: ChangeBatch
  ) throws(AnnalsError) -> Value {
    let value = batch.arena.withUnsafeBytes { cell.value(in: $0) }
    guard case .large(let reference) = value else { return value }
    let hasRules = isUnique || attribute.isUnique || !attribute.validation.isEmpty
    if !hasRules, reference.tag != .json { return value }
    return Value(bytes: try largeValues.bytes(of: reference), tag: reference.tag)
  }

  private mutating func add(
    _ rules: EntityRules, _ entry: ChangeEntry, _ property: PropertyNumber, _ rule: ValidationRule,
    _ value: Value
  ) {
    let object = ObjectReference(entity: entry.entity, row: entry.row)
    add(rules, object, property, rule, value)
  }

  /// Adds a violation, unless there are too many.
  mutating func add(
    _ rules: EntityRules, _ object: ObjectReference, _ property: PropertyNumber,
    _ rule: ValidationRule, _ value: Value
  ) {
    guard violations.count < ChangeValidation.limit else { return }
    violations.append(
      ValidationViolation(
        entity: rules.entity.name, object: object,
        property: rules.entity.propertyName(property) ?? "#\(property)", rule: rule, value: value))
  }
}

extension Entity {
  /// Whether the unique rule of this number is a partial index: any property may decide what is in
  /// it.
  fileprivate func hasPartialIndex(_ number: PropertyNumber) -> Bool {
    indexes.contains { $0.number == number && !$0.tests.isEmpty }
  }
}
