import AnnalsModel

extension Value {
  /// The text of the value as an object's key: what follows `Entity/`. Nil for null, data and
  /// lists, which cannot name an object.
  package var keyText: String? {
    switch self {
    case .string(let text), .url(let text), .json(let text): text
    case .int(let number): String(number)
    case .bool(let flag): flag ? "true" : "false"
    case .double(let number): String(number)
    case .uuid(let uuid): uuid.description
    case .date(let moment): moment.description
    case .null, .data, .object, .objects, .large, .erased: nil
    }
  }
}
