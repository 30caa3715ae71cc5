import AnnalsTorture

/// Prints the result of `annals torture`.
struct TortureText {
  private let run: TortureRun
  private let console: Console
  private static let nameWidth = 18
  private static let numberWidth = 16

  init(_ run: TortureRun, _ console: Console) {
    self.run = run
    self.console = console
  }

  /// Writes three tables, the failures, and a summary line.
  func write(seed: UInt64) throws {
    try table(
      "power cut", ["points", "tried", "in full", "states left", "different", "after a second"],
      run.crashes
    ) {
      [
        $0.count, $0.tried, $0.triedInFull, $0.tally.survivors, $0.tally.distinct,
        $0.tally.recoveries,
      ]
    }
    try table(
      "failing call",
      ["calls", "tried", "refused", "outcome unknown", "states left", "different"], run.errors
    ) {
      [
        $0.count, $0.tried, $0.tally.errorsRefused, $0.tally.errorsUnknown, $0.tally.survivors,
        $0.tally.distinct,
      ]
    }
    try table("process", ["killed", "acknowledged", "found", "read meanwhile"], run.processes) {
      [$0.tally.kills, $0.tally.acknowledged, $0.tally.found, $0.tally.reads]
    }
    try console.output.line()
    for failure in run.failures.prefix(10) {
      try console.output.line("broken: \(failure.what)")
      try console.output.line("  again: annals torture --seed \(seed) --only \(failure.name)")
    }
    if run.failures.isEmpty {
      try console.output.line(
        "every promise was kept"
          + (run.isComplete ? "" : "; with more --seconds more is tried"))
    } else {
      try console.output.line(
        "\(Numerals.counted(run.failures.count, "case")) in which a promise was broken")
    }
  }

  private func table(
    _ title: String, _ columns: [String], _ rows: [TortureRun.Row],
    _ numbers: (TortureRun.Row) -> [Int]
  ) throws {
    let tried = rows.filter { $0.isTried }
    if tried.isEmpty { return }
    try console.output.line()
    try line(title, columns)
    for row in tried { try line(row.name, numbers(row).map(Numerals.grouped)) }
    if tried.count == 1 { return }
    let sums = columns.indices.map { column in
      tried.reduce(0) { $0 + numbers($1)[column] }
    }
    try line("in all", sums.map(Numerals.grouped))
  }

  private func line(_ name: String, _ cells: [String]) throws {
    let cells = cells.map { " " + $0.padded(left: TortureText.numberWidth - 1) }.joined()
    try console.output.line(name.padded(right: TortureText.nameWidth) + cells)
  }
}
