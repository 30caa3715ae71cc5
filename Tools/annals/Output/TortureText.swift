import AnnalsTorture

/// Prints what a run of `annals torture` tried and survived.
struct TortureText {
  private let run: TortureRun
  private let console: Console
  private static let nameWidth = 18
  private static let numberWidth = 17

  init(_ run: TortureRun, _ console: Console) {
    self.run = run
    self.console = console
  }

  /// Writes three tables, what broke, and a line that sums it up.
  func write(seed: UInt64) throws {
    try table("power cut", ["points", "states left", "after a second"], run.crashes) {
      [$0.points, $0.survivors, $0.recoveries]
    }
    try table("failing call", ["calls", "refused", "outcome unknown", "states left"], run.errors) {
      [$0.errors, $0.errorsRefused, $0.errorsUnknown, $0.survivors]
    }
    try table("process", ["killed", "acknowledged", "found", "read meanwhile"], run.processes) {
      [$0.kills, $0.acknowledged, $0.found, $0.reads]
    }
    try console.output.line()
    for failure in run.failures.prefix(10) {
      try console.output.line("broken: \(failure.what)")
      try console.output.line("  again: annals torture --seed \(seed) --only \(failure.name)")
    }
    if run.failures.isEmpty {
      let isWhole = (run.crashes + run.errors).allSatisfy { !$0.isTried || $0.isComplete }
      try console.output.line(
        "every promise was kept" + (isWhole ? "" : "; with more --seconds more is tried"))
    } else {
      try console.output.line(
        "\(Numerals.counted(run.failures.count, "case")) in which a promise was broken")
    }
  }

  private func table(
    _ title: String, _ columns: [String], _ rows: [TortureRun.Row], _ numbers: (Tally) -> [Int]
  ) throws {
    let tried = rows.filter { $0.isTried }
    if tried.isEmpty { return }
    try console.output.line()
    try line(title, columns)
    for row in tried {
      try line(row.name, numbers(row.tally).map(Numerals.grouped), row.isComplete ? "" : "  part")
    }
    let sum = tried.reduce(Tally()) { $0 + $1.tally }
    if tried.count > 1 { try line("in all", numbers(sum).map(Numerals.grouped)) }
  }

  private func line(_ name: String, _ cells: [String], _ end: String = "") throws {
    let cells = cells.map { padding(TortureText.numberWidth - $0.count) + $0 }.joined()
    try console.output.line(name + padding(TortureText.nameWidth - name.count) + cells + end)
  }

  private func padding(_ count: Int) -> String { String(repeating: " ", count: max(1, count)) }
}
