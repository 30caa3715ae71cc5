/// How many bytes of transactions a replica has seen, by their places in the log. Knows the newest
/// places exactly, and older ones by runs: at most 64 of them.
struct LogVolume: Sendable {
  private var runs: [(last: UInt64, bytes: Int)] = []

  /// Notes a record.
  mutating func add(_ sequence: UInt64, _ bytes: Int) {
    // A record comes again where a log that was restored has another one.
    guard sequence > runs.last?.last ?? 0 else { return }
    runs.append((sequence, bytes))
    guard runs.count > 64 else { return }
    let halves = stride(from: 0, to: runs.count - 1, by: 2).map { index in
      (runs[index + 1].last, runs[index].bytes + runs[index + 1].bytes)
    }
    let rest = runs.count.isMultiple(of: 2) ? [] : [runs[runs.count - 1]]
    runs = halves + rest
  }

  /// How many bytes were seen after a record; some more where a run reaches across it.
  func bytes(after sequence: UInt64) -> Int {
    runs.reduce(0) { $0 + ($1.last > sequence ? $1.bytes : 0) }
  }
}
