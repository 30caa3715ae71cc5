import AnnalsModel

extension Value {
  /// The value as the text of an object's key: what follows `Entity/`. Nil for null, data and
  /// lists, which name nothing.
  package var keyText: String? {
    switch self {
    case .string(let text), .url(let text), .json(let text): text
    case .int(let number): String(number)
    case .bool(let flag): flag ? "true" : "false"
    case .double(let number): String(number)
    case .uuid(let uuid): uuid.description
    case .date(let moment): moment.description
    case .null, .data, .object, .objects, .large: nil
    }
  }
}

extension AttributeType {
  /// The values that may have been meant by a KEY: what a text stands for in an attribute of the
  /// type; in one of type `any` the text itself, and each value of another kind that is written so.
  package func keys(fromText text: String) -> [Value] {
    guard self == .any else { return value(fromText: text).map { [$0] } ?? [] }
    var keys = [Value.string(text)]
    for type in AttributeType.allCases where type.isKindOfItsOwn {
      guard let value = type.value(fromText: text),
        JSONWriter.text(of: value).hasSameBytes(as: text)
      else { continue }
      keys.append(value)
    }
    return keys
  }

  /// Whether values of the type have a kind that no type before has, and that is not text.
  private var isKindOfItsOwn: Bool {
    switch self {
    case .int16, .int32, .string, .any: false
    case .bool, .int64, .double, .date, .uuid, .url, .data, .json: true
    }
  }
}
