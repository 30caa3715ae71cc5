import Annals

/// A line on the terminal with the progress of a long command. Prints nothing without a terminal.
final class ProgressBar {
  private let console: Console
  private let noun: String
  private let started: Timestamp
  private var shown: Timestamp?
  private var isVisible = false

  /// A bar that counts `noun`s.
  init(_ console: Console, noun: String) {
    self.console = console
    self.noun = noun
    started = console.now()
  }

  /// Shows the count, and the fraction of the work done if it is known, at most ten times a second.
  func update(count: Int64, fraction: Double?) {
    guard console.terminal.isErrors else { return }
    let now = console.now()
    if let shown, now.microseconds - shown.microseconds < 100_000 { return }
    shown = now
    let elapsed = max(Double(now.microseconds - started.microseconds) / 1e6, 0.001)
    let text = ProgressBar.text(
      count: count, noun: noun, fraction: fraction, elapsed: elapsed,
      width: console.terminal.width ?? 80)
    try? console.errors.replaceLine(with: text)
    isVisible = true
  }

  /// Removes the line.
  func remove() {
    guard isVisible else { return }
    try? console.errors.replaceLine(with: "")
    isVisible = false
  }

  /// `[#####.....]  42%  12,345 transactions  8,120/s  0:12 left`.
  static func text(
    count: Int64, noun: String, fraction: Double?, elapsed: Double, width: Int
  ) -> String {
    var tail =
      "\(Numerals.counted(count, noun))  \(Numerals.grouped(Int64(Double(count) / elapsed)))/s"
    guard let fraction else { return String(tail.prefix(max(width - 1, 0))) }
    let done = min(max(fraction, 0), 1)
    let percent = String(Int(done * 100))
    if done > 0.01 { tail += "  \(Numerals.clock(elapsed / done - elapsed)) left" }
    tail = String(repeating: " ", count: 3 - percent.count) + "\(percent)%  " + tail
    let room = min(30, width - tail.count - 5)
    guard room >= 5 else { return String(tail.prefix(max(width - 1, 0))) }
    let filled = Int(done * Double(room))
    return "[" + String(repeating: "#", count: filled)
      + String(repeating: ".", count: room - filled) + "] " + tail
  }
}
