import AnnalsTorture

/// The result of a run, in lines.
struct TortureText {
  private let run: TortureRun
  private static let nameWidth = 18
  private static let numberWidth = 16

  init(_ run: TortureRun) {
    self.run = run
  }

  /// Three tables, the failures, and a summary line.
  func lines(seed: UInt64) -> [String] {
    var lines = table(
      "power cut", ["points", "tried", "in full", "states left", "different", "after a second"],
      run.crashes
    ) {
      [
        $0.count, $0.tried, $0.triedInFull, $0.tally.survivors, $0.tally.distinct,
        $0.tally.recoveries,
      ]
    }
    lines += table(
      "failing call",
      ["calls", "tried", "refused", "outcome unknown", "states left", "different"], run.errors
    ) {
      [
        $0.count, $0.tried, $0.tally.errorsRefused, $0.tally.errorsUnknown, $0.tally.survivors,
        $0.tally.distinct,
      ]
    }
    lines += table(
      "process", ["killed", "acknowledged", "found", "read meanwhile"], run.processes
    ) {
      [$0.tally.kills, $0.tally.acknowledged, $0.tally.found, $0.tally.reads]
    }
    lines += table("log", ["rounds", "disturbed", "acknowledged", "read meanwhile"], run.replicas) {
      [$0.tried, $0.tally.kills, $0.tally.acknowledged, $0.tally.reads]
    }
    lines.append("")
    for failure in run.failures.prefix(10) {
      lines.append("broken: \(failure.what)")
      lines.append("  again: Tools/torture --seed \(seed) --only \(failure.name)")
    }
    lines.append(
      run.failures.isEmpty
        ? "every promise was kept" + (run.isComplete ? "" : "; with more --seconds more is tried")
        : "cases in which a promise was broken: \(run.failures.count)")
    return lines
  }

  private func table(
    _ title: String, _ columns: [String], _ rows: [TortureRun.Row],
    _ numbers: (TortureRun.Row) -> [Int]
  ) -> [String] {
    let tried = rows.filter { $0.isTried }
    if tried.isEmpty { return [] }
    var lines = ["", line(title, columns)]
    for row in tried { lines.append(line(row.name, numbers(row).map(String.init))) }
    if tried.count == 1 { return lines }
    let sums = columns.indices.map { column in tried.reduce(0) { $0 + numbers($1)[column] } }
    return lines + [line("in all", sums.map(String.init))]
  }

  private func line(_ name: String, _ cells: [String]) -> String {
    let cells = cells.map { space(TortureText.numberWidth - $0.count) + $0 }.joined()
    return name + space(TortureText.nameWidth - name.count) + cells
  }

  private func space(_ count: Int) -> String { String(repeating: " ", count: max(1, count)) }
}
