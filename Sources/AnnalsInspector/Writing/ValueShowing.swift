import Annals

/// Shows values, each cut to so many characters.
///
/// Reads the beginnings of large values as long as its budget lasts, and shows little of a text
/// once many long ones were shown, so that no document is longer than some megabytes.
package final class ValueShowing {
  /// The greatest number of characters of a text.
  let cut: Int
  private let largeValues: any LargeValueSource
  /// How many bytes of large values may still be read.
  private var budget: UInt64 = 4 << 20
  /// How many bytes of texts may still be shown.
  private var room = 6 << 20
  /// Without room, so many characters of each are shown.
  private static let leastCut = 8

  static let longestCut = 20_000
  static let usualCut = 200
  /// How many objects of a list are shown.
  private static let listed = 10

  package init(cut: Int = ValueShowing.usualCut, _ largeValues: any LargeValueSource) {
    self.cut = cut
    self.largeValues = largeValues
  }

  /// Shows a value, with the names and labels that objects have in the state.
  func shown(_ value: Value, _ state: () throws(AnnalsError) -> StateReader) throws -> ShownValue {
    switch value {
    case .null: return ShownValue("null", "")
    case .erased: return ShownValue("erased", "(erased)")
    case .string(let text): return self.text(text, "string")
    case .url(let text): return self.text(text, "url")
    case .json(let text): return self.text(text, "json")
    case .date(let moment):
      var shown = ShownValue("date", moment.description)
      shown.us = moment.microseconds
      return shown
    case .data(let bytes):
      var shown = ShownValue("data", "")
      shown.length = Int64(bytes.count)
      shown.isCut = true
      return shown
    case .large(let large): return try self.large(large)
    case .object(let target):
      let object = try ShownObject(target, in: state(), labelled: true)
      var shown = ShownValue("object", object.name)
      shown.object = object
      return shown
    case .objects(let targets): return try list(targets, state())
    case .bool, .int, .double, .uuid, .decimal, .day:
      return ShownValue("\(value.tag)", value.plainText)
    }
  }

  private func text(_ text: String, _ kind: String) -> ShownValue {
    let count = text.utf8.count
    let cut = room > 0 ? cut : min(cut, ValueShowing.leastCut)
    let isCut = count > cut && text.unicodeScalars.count > cut
    var shown = ShownValue(kind, isCut ? String(text.unicodeScalars.prefix(cut)) : text)
    shown.length = Int64(count)
    if isCut { shown.isCut = true }
    room -= shown.text.utf8.count
    return shown
  }

  private func list(_ targets: [ObjectReference], _ state: StateReader) throws -> ShownValue {
    let objects = try targets.prefix(ValueShowing.listed).map {
      try ShownObject($0, in: state, labelled: true)
    }
    let more = targets.count > objects.count ? ", …" : ""
    var shown = ShownValue("objects", "[\(objects.map(\.name).joined(separator: ", "))\(more)]")
    shown.objects = objects
    shown.count = targets.count
    return shown
  }

  /// The beginning of a large value, if the budget allows.
  private func large(_ large: LargeValue) throws -> ShownValue {
    var shown = ShownValue("\(large.tag)", "")
    if large.tag != .data, large.length <= budget {
      budget -= large.length
      if let bytes = try largeValues.bytesLeft(of: large) {
        return text(String(decoding: bytes, as: UTF8.self), "\(large.tag)")
      }
    }
    shown.length = Int64(large.length)
    shown.isCut = true
    return shown
  }
}
