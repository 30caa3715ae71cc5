import Annals

/// Formats numbers for people, the same on every machine.
enum Numerals {
  /// `26588` as `26,588`.
  static func grouped(_ value: some BinaryInteger) -> String {
    let digits = String(value.magnitude)
    var result = value < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { result += "," }
      result.append(digit)
    }
    return result
  }

  /// A count and what is counted: `1 change`, `2 changes`.
  static func counted(_ count: some BinaryInteger, _ noun: String) -> String {
    "\(grouped(count)) \(noun)\(count == 1 ? "" : "s")"
  }

  /// A size: `412 bytes`, `38.2 MB` (thousands, not 1024).
  static func size(_ bytes: some BinaryInteger) -> String {
    let value = Double(bytes)
    for (limit, unit) in [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")] where value >= limit {
      return "\(tenths(value / limit)) \(unit)"
    }
    return counted(bytes, "byte")
  }

  /// A share of a whole: `12.5%`.
  static func share(_ part: some BinaryInteger, of whole: some BinaryInteger) -> String {
    whole == 0 ? "0.0%" : tenths(Double(part) / Double(whole) * 100) + "%"
  }

  /// A number with one decimal digit.
  static func tenths(_ value: Double) -> String {
    let scaled = Int64((value * 10).rounded())
    return "\(grouped(scaled / 10)).\(abs(scaled % 10))"
  }

  /// A rough length of time: `12 s`, `5 min`, `3 h`, `40 d`.
  static func length(_ seconds: Double) -> String {
    let whole = Int64(min(max(seconds, 0), 1e15))
    for (limit, unit) in [(172_800, 86_400), (7_200, 3_600), (120, 60)] as [(Int64, Int64)]
    where whole >= limit {
      return "\(grouped(whole / unit)) \(unit == 60 ? "min" : unit == 3_600 ? "h" : "d")"
    }
    return "\(whole) s"
  }

  /// A duration: `0:07`, `1:02:30`.
  static func clock(_ seconds: Double) -> String {
    let whole = Int64(min(max(seconds, 0), 359_999))
    let minutes = whole / 60
    if minutes < 60 { return "\(minutes):\((whole % 60).padded(2))" }
    return "\(minutes / 60):\((minutes % 60).padded(2)):\((whole % 60).padded(2))"
  }
}
