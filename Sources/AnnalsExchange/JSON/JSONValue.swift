import Annals
import AnnalsModel
import Foundation

// The JSON form of values, the same in import, export, `put` and all JSON output.
//
// | type | form |
// |---|---|
// | bool, int16, int32, int64, string | the JSON value |
// | double | a number with a point or an exponent |
// | decimal | a number without an exponent, all its digits |
// | day | text: `2019-10-06` |
// | date | RFC 3339 text in UTC |
// | uuid, url, json | text; for json, the JSON text as a string |
// | data | base64 text |
// | erased, of any type | `{"$erased":true}` |
// | any | the JSON value, or an object with one of `$date`, `$uuid`, `$url`, `$data`, `$json`, |
// | | `$decimal`, `$day` |
//
// Relationships are written by the caller, who knows the keys of objects.

extension JSONWriter {
  /// Writes a value of an attribute of this type. A value whose kind is not that of the type
  /// (written before the type was widened) is written as in `any`.
  package mutating func value(_ value: Value, as type: AttributeType) {
    switch value {
    case .null: return null()
    case .erased: return erased()
    case .bool(let value): return bool(value)
    case .int(let value): return int(value)
    case .double(let value): return double(value)
    case .string(let value): return string(value)
    case .decimal(let value) where type == .decimal: return verbatim(value.description.utf8)
    case .date, .uuid, .url, .data, .json, .decimal, .day: break
    case .object, .objects, .large:
      preconditionFailure("references and unread values are written by the caller")
    }
    guard type.tag != value.tag, let name = value.tag.memberName else {
      return string(value.plainText)
    }
    beginObject()
    member(name, value.plainText)
    endObject()
  }
}

extension LargeValue {
  /// What stands before and after the text of the value as a value of an attribute of this type.
  func form(as type: AttributeType) -> (start: String, end: String) {
    guard type.tag != tag, let name = tag.memberName else { return ("\"", "\"") }
    return ("{\"\(name)\":\"", "\"}")
  }
}

extension ValueTag {
  /// The member that says of which kind a text is; nil for kinds that JSON tells apart.
  fileprivate var memberName: String? {
    switch self {
    case .date: "$date"
    case .uuid: "$uuid"
    case .url: "$url"
    case .data: "$data"
    case .json: "$json"
    case .decimal: "$decimal"
    case .day: "$day"
    default: nil
    }
  }
}

extension JSONWriter {
  /// Writes the form of an erased value.
  package mutating func erased() {
    beginObject()
    member("$erased", true)
    endObject()
  }
}

extension Value {
  /// Whether this JSON text is the form of an erased value.
  package static func isErased(json text: some Sequence<UInt8>) -> Bool {
    text.elementsEqual(#"{"$erased":true}"#.utf8)
  }
}

extension AttributeType {
  /// The text as a value of this type; nil if it is not one.
  package func value(fromText text: String) -> Value? {
    // `Value` has a null of its own, so nil is spelled out.
    switch self {
    case .bool:
      return text == "true" ? .some(.bool(true)) : text == "false" ? .some(.bool(false)) : .none
    case .int16: return Int16(text).map { .int(Int64($0)) }
    case .int32: return Int32(text).map { .int(Int64($0)) }
    case .int64: return Int64(text).map { .int($0) }
    case .double:
      return Double(inRange: text).map { .double($0) }
    case .string, .any: return .string(text)
    case .date: return Timestamp(text).map { .date($0) }
    case .uuid: return RawUUID(text).map { .uuid($0) }
    case .decimal: return RawDecimal(text).map { .decimal($0) }
    case .day: return CalendarDay(text).map { .day($0) }
    case .url: return text.isEmpty ? .none : .some(.url(text))
    case .data: return Data(base64Encoded: text).map { .data(Array($0)) }
    case .json: return JSONText.firstError(in: text) == nil ? .some(.json(text)) : .none
    }
  }
}

extension AttributeType {
  /// A value read from JSON as a value of this type; nil if it is of another kind.
  ///
  /// - Throws: `ValueTextFault` for a text or number of the right kind that is not a value of the
  ///   type.
  package func value(from found: Value) throws(ValueTextFault) -> Value? {
    switch (self, found) {
    case (_, .null), (_, .erased), (.any, _), (.bool, .bool), (.int64, .int), (.double, .double):
      return found
    case (.int16, .int(let whole)), (.int32, .int(let whole)):
      let fits = self == .int16 ? Int16(exactly: whole) != nil : Int32(exactly: whole) != nil
      guard fits else { throw ValueTextFault(text: "\(whole)", type: self) }
      return found
    case (.decimal, .int(let whole)): return .decimal(RawDecimal(whole))
    case (.bool, _), (.int16, _), (.int32, _), (.int64, _), (.double, _): return nil
    case (.string, .string): return found
    case (.string, _): return nil
    case (_, .string(let text)):
      if let value = value(fromText: text) { return value }
      throw ValueTextFault(text: text, type: self)
    default: return tag == found.tag ? .some(found) : .none
    }
  }
}

/// The error for a text that is not a value of an attribute's type.
package struct ValueTextFault: Error, CustomStringConvertible {
  package var text: String
  package var type: AttributeType

  package var description: String {
    let shown = text.utf8.count <= 60 ? text : text.prefix(60) + "…"
    return "`\(shown)` is not \(type.article) \(type)\(type.form(for: text))"
  }
}

extension JSONReader {
  /// The value that begins with `token`, of the kind that JSON gives it: a nested object or array
  /// is the tagged form of another kind, or JSON text.
  package func value(_ token: JSONToken) throws(InputFault) -> Value {
    switch token {
    case .null: return .null
    case .bool(let value): return .bool(value)
    case .number: return try number()
    case .string: return .string(String(decoding: text, as: UTF8.self))
    case .beginObject, .beginArray: return try nestedValue(token)
    case .key, .endObject, .endArray: preconditionFailure("not the beginning of a value")
    }
  }

  /// The value that begins with `token`, as in the other form; but a number is read as a decimal
  /// where lines have an attribute of that type, all its digits.
  package func value(
    _ token: JSONToken, written type: AttributeType
  ) throws(InputFault) -> Value {
    guard type == .decimal, token == .number else { return try value(token) }
    let text = String(decoding: text, as: UTF8.self)
    guard let number = RawDecimal(text) else {
      throw fault(ValueTextFault(text: text, type: .decimal).description)
    }
    return .decimal(number)
  }

  /// The value that begins with `token`, for an attribute of this type. Skips a value of another
  /// kind and returns nil.
  ///
  /// - Throws: `InputFault` for bad JSON, or a text that is not a value of the type.
  package func value(_ token: JSONToken, for type: AttributeType) throws(InputFault) -> Value? {
    let found = try value(token, written: type)
    do throws(ValueTextFault) {
      return try type.value(from: found)
    } catch {
      throw fault(error.description)
    }
  }

  /// An object or array as a value: the value of a tagged form, otherwise its compact JSON text.
  private func nestedValue(_ token: JSONToken) throws(InputFault) -> Value {
    let compact = try compactText(token)
    if Value.isErased(json: compact) { return .erased }
    let member = compact.starts(with: #"{"$"#.utf8) ? JSONReader.onlyMember(of: compact) : nil
    if case .tagged(let kind, let text) = member {
      if let value = kind.value(fromText: text) { return value }
      throw fault(ValueTextFault(text: text, type: kind).description)
    }
    let text = String(decoding: compact, as: UTF8.self)
    if member != nil {
      if untaggedObjects.count == 0 { untaggedObjects.first = String(text.prefix(60)) }
      untaggedObjects.count += 1
    }
    return .json(text)
  }

  /// The value that begins with `token` as JSON text without white space.
  package func compactText(_ token: JSONToken) throws(InputFault) -> ContiguousArray<UInt8> {
    var compact = JSONWriter(escapingHidden: false)
    var current = token
    let outer = token == .beginObject || token == .beginArray ? depth - 1 : depth
    while true {
      switch current {
      case .beginObject: compact.beginObject()
      case .endObject: compact.endObject()
      case .beginArray: compact.beginArray()
      case .endArray: compact.endArray()
      case .key: compact.key(String(decoding: text, as: UTF8.self))
      case .string: text.withUnsafeBytes { compact.string(utf8: $0) }
      case .number: compact.verbatim(text)
      case .bool(let value): compact.bool(value)
      case .null: compact.null()
      }
      if depth == outer { return compact.bytes }
      guard compact.bytes.count <= limits.textLength else {
        throw fault("a nested value is longer than \(limits.textLength) bytes")
      }
      current = try next()
    }
  }

  /// The member of an object with one member.
  private enum OnlyMember {
    /// A tagged form: its kind and text.
    case tagged(AttributeType, String)
    case other
  }

  /// The only member of an object; nil for other JSON text.
  private static func onlyMember(of compact: ContiguousArray<UInt8>) -> OnlyMember? {
    let reader = JSONReader(MemorySource(compact), framing: .document, bufferSize: 1 << 10)
    guard (try? reader.next()) == .beginObject, (try? reader.next()) == .key else { return nil }
    let kind = AttributeType(tagName: String(decoding: reader.text, as: UTF8.self))
    guard let token = try? reader.next() else { return nil }
    var member = OnlyMember.other
    if let kind, token == .string {
      member = .tagged(kind, String(decoding: reader.text, as: UTF8.self))
    } else if (try? reader.compactText(token)) == nil {
      return nil
    }
    return (try? reader.next()) == .endObject ? member : nil
  }
}

extension AttributeType {
  /// The kind that the member of a tagged form names.
  fileprivate init?(tagName: String) {
    let types: [AttributeType] = [.date, .uuid, .url, .data, .json, .decimal, .day]
    guard let type = types.first(where: { tagName == "$\($0)" }) else { return nil }
    self = type
  }

  /// How a value of this type is written, for messages that refuse this text; empty if obvious.
  package func form(for text: String) -> String {
    switch self {
    case .date:
      WrittenDate.looksLong(text)
        ? "; dates go from \(Timestamp.min) to \(Timestamp.max)" : "; write 2019-10-22T18:15:04Z"
    case .uuid: "; write 6F9619FF-8B86-D011-B42D-00C04FC964FF"
    case .data: "; write base64"
    case .bool: "; write true or false"
    case .int16: "; write a whole number from \(Int16.min) to \(Int16.max)"
    case .int32: "; write a whole number from \(Int32.min) to \(Int32.max)"
    case .int64: "; write a whole number"
    case .double: "; write a number, such as -1.5e3"
    case .decimal: "; write a number, such as 12.50: \(RawDecimal.rangeText)"
    case .day: "; write 2019-10-22"
    default: ""
    }
  }

  /// The article for messages.
  fileprivate var article: String {
    switch self {
    case .int16, .int32, .int64, .any: "an"
    default: "a"
    }
  }
}
