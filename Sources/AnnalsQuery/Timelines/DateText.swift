import AnnalsModel

/// Dates as a text attribute has them: `2004`, `2004-05`, `2004-05-17`, or RFC 3339.
package enum DateText {
  /// The first moment that the text stands for, in UTC; nil if it is none of the forms, or no date
  /// that there is.
  package static func firstMoment(_ bytes: UnsafeRawBufferPointer) -> Timestamp? {
    guard bytes.count >= 4, let year = number(bytes, 0, 4) else { return nil }
    var date = CalendarDate(year: year, month: 1, day: 1)
    if bytes.count > 4 {
      guard bytes.count >= 7, bytes[4] == UInt8(ascii: "-"), let month = number(bytes, 5, 2)
      else { return nil }
      date.month = month
    }
    if bytes.count > 7 {
      guard bytes.count >= 10, bytes[7] == UInt8(ascii: "-"), let day = number(bytes, 8, 2)
      else { return nil }
      date.day = day
    }
    // No text of RFC 3339 that says anything is longer.
    guard bytes.count <= 10 else {
      return bytes.count <= 64 ? Timestamp(String(decoding: bytes, as: UTF8.self)) : nil
    }
    return date.daysSince1970.map { Timestamp(microseconds: $0 * 86_400_000_000) }
  }

  private static func number(
    _ bytes: UnsafeRawBufferPointer, _ first: Int, _ count: Int
  ) -> Int64? {
    var result: Int64 = 0
    for index in first..<first + count {
      guard (0x30...0x39).contains(bytes[index]) else { return nil }
      result = result * 10 + Int64(bytes[index] - 0x30)
    }
    return result
  }
}
