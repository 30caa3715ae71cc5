import AnnalsLog
import AnnalsModel
import AnnalsState

// A stage of the commit (`CommitStages.swift`): a draft of an earlier state is merged into the
// newest.

extension Preconditions {
  /// The earlier transaction on whose state the closure of a write runs; nil if it runs on the
  /// newest.
  func mergeNumber(on version: StoreVersion) throws(AnnalsError) -> Int64? {
    guard policy != nil, let basedOn else { return nil }
    let number = try version.number(at: basedOn)
    return number < version.head.number ? number : nil
  }
}

extension StoreWriter {
  /// Merges the draft into the newest state, which `version` has, by the policy; without one, it is
  /// refused if both sides changed one property.
  func merge(
    _ draft: inout Draft, into version: StoreVersion, if preconditions: Preconditions,
    by rules: CommitRules
  ) throws {
    // What is unique may be derived, and so decide with which objects new ones are united.
    try draft.derive(rules.derivations)
    let basis = MergeBasis(
      base: draft.base, policy: preconditions.policy,
      erased: try version.erasures(after: max(draft.number, version.view.base))
        .flatMap(\.erasure.targets))
    var merge = GraphMerge(basis, version, rules.deletes)
    draft = try merge.run(draft)
    draft.conflicts = try preconditions.resolved(merge.conflicts, on: version)
  }
}

extension Draft {
  /// This draft of an earlier state as one of the newest, and what both sides have changed. It
  /// cannot be read any more.
  mutating func merged(
    into version: StoreVersion, from basis: MergeBasis
  ) throws(AnnalsError) -> (draft: Draft, conflicts: [MergeConflict]) {
    let objects = touched.list
    var merge = ThreeWayMerge(
      basis, own: takeState(), stored: version.state, largeValues: largeValues)
    try merge.run(objects)
    var result = Draft(
      origin, base: version.state, number: version.head.number, working: merge.merged,
      store: version.store, records: version.records, largeValues: largeValues)
    for (inserted, stored) in merge.mergedObjects { result.mergedObjects[inserted] = stored }
    for object in merge.touched {
      result.touched.insert(object)
      if try !result.exists(object) { result.deletions.append(object) }
    }
    result.violations = violations
    result.earlier = basis.base
    return (result, merge.conflicts)
  }
}
