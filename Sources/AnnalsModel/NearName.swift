/// Suggestions for mistyped names.
package enum NearName {
  /// Longer names get no suggestions: comparing two takes the square of their length.
  private static let longest = 64

  /// `; did you mean NAME?` with the nearest name; empty if none is near.
  package static func hint(_ typed: String, among names: [String]) -> String {
    nearest(to: typed, among: names).map { "; did you mean \($0)?" } ?? ""
  }

  /// The name with the fewest mistakes: letters left out, added, changed, or exchanged with their
  /// neighbours; at most a third of its letters. Ignores case.
  package static func nearest(to typed: String, among names: [String]) -> String? {
    let target = Array(typed.lowercased().unicodeScalars)
    guard target.count <= longest else { return nil }
    // Of two equally near names the first in order, so that the answer is always the same.
    let found =
      names.sorted { $0.precedesInBytes($1) }.lazy.compactMap { name in
        let candidate = Array(name.lowercased().unicodeScalars)
        // Any other letter is near a single one.
        let shorter = min(target.count, candidate.count)
        let most = shorter < 2 ? 0 : max(1, min(3, shorter / 3))
        guard abs(candidate.count - target.count) <= most else { return nil }
        let mistakes = distance(candidate, target)
        return mistakes <= most ? (name: name, mistakes: mistakes) : nil
      } as [(name: String, mistakes: Int)]
    return found.min { $0.mistakes < $1.mistakes }?.name
  }

  /// How many letters were left out, added, changed, or exchanged with their neighbours.
  package static func distance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
    if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      row.reserveCapacity(b.count + 1)
      for j in b.indices {
        var best = min(row[j] + 1, last[j + 1] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          best = min(best, beforeLast[j - 1] + 1)
        }
        row.append(best)
      }
      beforeLast = last
      last = row
    }
    return last[b.count]
  }
}
