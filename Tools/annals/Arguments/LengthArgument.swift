import Annals

/// A length of time on the command line: `90m`, `12h`, `30d`, `2w`, `1y`. A year has 365 days.
enum LengthArgument {
  /// Units by their letters, in seconds.
  private static let units: [Character: Int64] = [
    "m": 60, "h": 3_600, "d": 86_400, "w": 604_800, "y": 31_536_000,
  ]

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
