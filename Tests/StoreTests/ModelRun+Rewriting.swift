import Annals
import AnnalsModel
import AnnalsTestSupport

extension ModelRun {
  /// Compacts or prunes; an older snapshot must stay readable.
  func rewrite() throws {
    let old = random.number(base...Int(head))
    let kept = try store.snapshot(at: old)
    if random.chance(50) {
      let isSmallest = random.chance(30)
      steps.append("compact \(isSmallest)")
      let summary = try store.compact(smallest: isSmallest)
      try demand(
        summary.bytesAfter <= summary.bytesBefore || !summary.isRewritten, "it grew: \(summary)")
    } else {
      try prune()
    }
    try states[old].compare(with: kept)
    try newest.compare(with: store.snapshot())
    if random.chance(30) { try compareHistory() }
  }

  private func prune() throws {
    guard head > base else { return }
    let floor = random.number(base + 1...base + 1 + (Int(head) - base) / 3)
    guard floor <= Int(head) else { return }
    steps.append("prune before \(floor)")
    let plan = try store.prunePlan(before: floor)
    let changes = (base + 1..<floor).reduce(0) { $0 + states[$1 - 1].changes(to: states[$1]).count }
    try demand(
      plan.floor == floor && plan.transactions == floor - 1 - base
        // Changes of which both sides were erased are none to the model.
        && (!hasErased ? plan.changes == changes : plan.changes >= changes),
      "the plan is \(plan), with \(changes) changes")
    let summary = try store.prune(plan, author: "gardener")
    try demand(summary.isRewritten == (floor > base + 1), "\(summary)")
    base = floor - 1
    try demand(store.base.number == base, "the base is \(store.base.number), not \(base)")
    guard base > 0 else { return }
    do {
      _ = try store.snapshot(at: base - 1)
      throw Mismatch("a state before the base can be read")
    } catch let error as AnnalsError {
      try demand(
        error.code == .pruned && error.gap?.requested == Int64(base - 1)
          && error.gap?.oldestValid.number == Int64(base)
          && (error.gap?.prunedBy == "gardener" || floor == base + 1),
        "the gap is \(error) \(String(describing: error.gap))")
    }
  }

  /// Writes the store as of some number to a new file, with its history or without.
  func replay() throws {
    let number = random.number(base...Int(head))
    let isFlat = random.chance(50)
    steps.append("replay at \(number) \(isFlat)")
    let copy = location.path + ".copy"
    try store.replay(to: copy, at: number, flatten: isFlat)
    var place = location
    place.path = copy
    let other = try Store(place, creates: false, options: options, environment: environment)
    try demand(other.id != store.id, "the copy has the same identity")
    try demand(other.token.number == number, "the copy is at \(other.token)")
    try states[number].compare(with: other.snapshot())
    if !isFlat, number > base {
      try states[number - 1].compare(with: other.snapshot(at: number - 1))
    }
    let findings = try other.verifyHistory()
    try demand(findings.allSatisfy { $0.severity == .note }, "the copy: \(findings)")
    _ = try other.importTransaction { _ in }
    try other.close()
    do {
      try store.replay(to: copy, at: number, flatten: isFlat)
      throw Mismatch("a file was overwritten")
    } catch let error as AnnalsError {
      try demand(error.code == .alreadyExists, "\(error)")
    }
  }
}
