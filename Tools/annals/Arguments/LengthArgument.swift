import Annals

/// A length of time on the command line: `30d`, `12h`, `2w`.
enum LengthArgument {
  /// Units by their letters, in seconds.
  private static let units: [Character: Int64] = ["h": 3600, "d": 86_400, "w": 604_800]

  /// The length in microseconds; nil if the text is not a length, or too long.
  static func microseconds(_ text: String) -> Int64? {
    let digits = text.dropLast()
    guard let last = text.last, let seconds = units[last], !digits.isEmpty,
      digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let count = Int64(digits)
    else { return nil }
    let (length, overflows) = count.multipliedReportingOverflow(by: seconds * 1_000_000)
    return overflows ? nil : length
  }
}
