import Annals
import AnnalsModel

/// Shows values, each within limits.
///
/// Reads the beginnings of large values as long as its budget lasts, and shows little of a text
/// once many long ones were shown, so that no document is longer than some megabytes.
package final class ValueShowing {
  let limits: ShowingLimits
  let departed: DepartedNames
  private let largeValues: any LargeValueSource
  /// How many bytes of large values may still be read.
  private var budget: UInt64
  /// How many bytes of texts may still be shown.
  private var room: Int

  static let longestCut = 20_000
  static let usualCut = 200

  package init(
    _ limits: ShowingLimits, _ largeValues: any LargeValueSource,
    departed: DepartedNames = DepartedNames()
  ) {
    self.limits = limits
    self.largeValues = largeValues
    self.departed = departed
    (budget, room) = (limits.allLarge, limits.room)
  }

  /// All there is of changes, for whoever prints them; of updates of texts that are longer than
  /// `compared` the places at which they differ.
  package static func ofChanges(in store: Store, compared: Int = .max) -> ValueShowing {
    ValueShowing(
      .whole(compared: compared), store.version, departed: DepartedNames(in: store.version))
  }

  /// Shows a value, with the names and labels that objects have in the state.
  package func shown(
    _ value: Value, _ state: () throws(AnnalsError) -> StateReader
  ) throws -> ShownValue {
    switch value {
    case .object(let target):
      return ShownValue(try self.shown(target, state()))
    case .objects(let targets): return try list(targets, state())
    default: return try shown(value)
    }
  }

  /// Shows a value, with the names and labels that objects have in the state.
  package func shown(_ value: Value, in state: StateReader) throws -> ShownValue {
    try shown(value) { () throws(AnnalsError) in state }
  }

  /// Shows a value that belongs to no state: objects by their numbers.
  package func shown(_ value: Value) throws -> ShownValue {
    switch value {
    case .null: return ShownValue(.null, "")
    case .string(let text): return self.text(text, .string)
    case .url(let text): return self.text(text, .url)
    case .json(let text): return self.text(text, .json)
    case .date(let moment): return ShownValue(moment)
    case .data(let bytes):
      return ShownValue(.data, "", length: Int64(bytes.count), isCut: true)
    case .large(let large): return try self.large(large)
    case .erased, .bool, .int, .double, .uuid, .decimal, .day, .object, .objects:
      return ShownValue(value.tag, value.plainText)
    }
  }

  private func text(_ text: String, _ kind: ValueTag) -> ShownValue {
    let count = text.utf8.count
    let cut = room > 0 ? limits.text : min(limits.text, ShowingLimits.leastText)
    let isCut = count > cut && text.unicodeScalars.count > cut
    let shown = isCut ? String(text.unicodeScalars.prefix(cut)) : text
    room -= shown.utf8.count
    return ShownValue(kind, shown, length: Int64(count), isCut: isCut)
  }

  /// Shows a property that has one value in one state and another one in another; nil for a state
  /// that does not have the object.
  func shown(
    _ property: String, _ before: (value: Value, state: StateReader)?,
    _ after: (value: Value, state: StateReader)?
  ) throws -> ShownDifference {
    var shown = ShownDifference(property: property)
    if let before, let after, try show(before.value, after.value, in: &shown) { return shown }
    shown.before = try before.map { try self.shown($0.value, in: $0.state) }
    shown.after = try after.map { try self.shown($0.value, in: $0.state) }
    return shown
  }

  /// Shows what differs between two texts of which one would be cut. Returns false, with nothing
  /// shown, for other values, and for texts too long to be compared.
  func show(
    _ before: Value, _ after: Value, in difference: inout ShownDifference
  ) throws -> Bool {
    guard limits.compared < ShowingLimits.comparedTexts, room > 0,
      max(before.textLength, after.textLength) > limits.compared,
      let old = try whole(before), let new = try whole(after),
      let found = TextPlaces(old, new, cut: limits.places), let window = found.windows.first
    else { return false }
    func shown(_ value: Value, _ text: String) -> ShownValue {
      room -= text.utf8.count
      return ShownValue(value.tag, text, length: Int64(value.textLength), isCut: true)
    }
    difference.before = shown(before, window.before)
    difference.after = shown(after, window.after)
    (difference.start, difference.isWhole) = (found.start + window.start, window.isWhole)
    difference.line = found.lines.first
    if found.windows.count > 1 {
      difference.places = zip(found.windows, found.lines).dropFirst().map { window, line in
        room -= window.before.utf8.count + window.after.utf8.count
        return ShownPlace(
          line: line, before: window.before, after: window.after, isWhole: window.isWhole)
      }
    }
    if found.left > 0 { difference.morePlaces = found.left }
    return true
  }

  /// All of a text, of a large one as far as the budget allows; nil for other values.
  private func whole(_ value: Value) throws -> String? {
    switch value {
    case .string(let text), .json(let text): return text
    case .large(let large):
      guard large.tag.isText, large.length <= min(budget, UInt64(ShowingLimits.comparedTexts))
      else { return nil }
      budget -= large.length
      return try beginning(of: large, large.length)
    default: return nil
    }
  }

  /// Shows an object as it is named in the state; one that is not there, as it was named before.
  func shown(_ target: ObjectReference, _ state: StateReader) throws -> ShownObject {
    let shown = try ShownObject(target, in: state, labelled: limits.hasLabels, cut: limits.name)
    if shown.exists { return shown }
    if let earlier = departed.earlier, try earlier.exists(target) {
      var former = try ShownObject(
        target, in: earlier, labelled: limits.hasLabels, cut: limits.name)
      former.exists = false
      return former
    }
    guard let former = try departed.name(of: target) else { return shown }
    return ShownObject(
      former.name, label: limits.hasLabels ? former.label : nil, exists: false, cut: limits.name)
  }

  private func list(_ targets: [ObjectReference], _ state: StateReader) throws -> ShownValue {
    let first = try targets.prefix(ShowingLimits.listed).map { try shown($0, state) }
    return ShownValue(first, of: targets.count)
  }

  /// The beginning of a large text, if the budget allows.
  private func large(_ large: LargeValue) throws -> ShownValue {
    let kind = large.tag
    let count = min(large.length, limits.large)
    var start = ""
    if large.tag.isText, count > 0, count <= budget, let text = try beginning(of: large, count) {
      budget -= count
      let shown = self.text(text, kind)
      if count == large.length { return shown }
      start = shown.text
    }
    return ShownValue(kind, start, length: Int64(clamping: large.length), isCut: true)
  }

  /// The whole characters among the first bytes; nil if they were lost before a salvage.
  private func beginning(of large: LargeValue, _ count: UInt64) throws -> String? {
    var bytes: ContiguousArray<UInt8> = []
    do throws(AnnalsError) {
      try largeValues.withPieces(of: large, in: 0..<count) { bytes.append(contentsOf: $0) }
    } catch {
      guard error.code == .lost else { throw error }
      return nil
    }
    bytes.removeLast(bytes.withUnsafeBytes { HiddenCharacters.incompleteEnd(of: $0) })
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension Value {
  /// How many bytes a text has; 0 for other values.
  fileprivate var textLength: Int {
    switch self {
    case .string(let text), .json(let text): text.utf8.count
    case .large(let large): large.tag.isText ? Int(clamping: large.length) : 0
    default: 0
    }
  }
}
